"""A whole coordinator and its sweep's time windows, on a clock that moves when told."""

from datetime import timedelta

from farm.coordinator.effects import Deferral
from farm.coordinator.loop import EndKind
from farm.coordinator.shell import LeftOpen
from farm.model import Fault, FaultKind, Host, Result, Ticket, parse_record
from farm.model.keys import close_key, outcome_key, result_key
from farm.testing.clock import START
from tests.builders.sweeps import Evidence, Farm, a_plan, evidence, fault

HOUR_S = 3600.0
WINDOW = frozenset({Deferral.WINDOW})
NEEDS_S = 600.0 + 120 + 30


def hours(first: float, last: float) -> str:
    """Write the window between two hours after START."""
    opens, closes = (START + timedelta(hours=hour) for hour in (first, last))
    return f"{opens.isoformat()}/{closes.isoformat()}"


def windowed(*windows: str, trials: int = 3, slots: int = 1) -> Farm:
    """Make a sweep of cells that need 750 s each."""
    durations = {"task": {"old": 600.0, "new": 600.0}}
    return Farm(a_plan(trials=trials, windows=windows, durations=durations), slots=slots)


def test_a_window_that_closes_during_a_cell_defers_it_and_the_next_window_goes_on() -> None:
    farm = windowed(hours(0, 1), hours(24, 25))

    def find(ticket: Ticket) -> Evidence | Fault:
        if ticket.index != 1 or ticket.attempt > 1:
            return evidence()
        farm.clock.advance(HOUR_S - farm.clock.monotonic())
        return fault(FaultKind.DEFERRED)

    first = farm.run(farm.works(find))
    assert (first.kind, first.left_open) == (EndKind.LEFT_OPEN, LeftOpen(WINDOW, 5, NEEDS_S))
    assert (len(farm.results()), farm.records.read(close_key(farm.sweep))) == (1, None)
    assert farm.records.read(result_key(farm.sweep, farm.plan.cells[1].id)) is None
    farm.clock.advance(HOUR_S)
    again = farm.run(farm.works(find), farm.coordinator("second"))
    assert again.left_open == LeftOpen(WINDOW, 5, NEEDS_S)  # not yet
    farm.clock.advance(22 * HOUR_S)
    farm.beat()
    last = farm.run(farm.works(find), farm.coordinator("third"))
    assert last.kind is EndKind.CLOSED
    assert [farm.attempts(index) for index in range(6)] == [[1], [1, 2], [1], [1], [1], [1]]
    key = result_key(farm.sweep, farm.plan.cells[1].id)
    assert parse_record(Result, farm.records.read(key) or b"", key).attempt == 2
    assert farm.records.read(outcome_key(farm.sweep, farm.plan.cells[1].id, 1)) is not None


def test_tickets_that_are_refused_for_want_of_time_keep_no_sweep_waiting() -> None:
    farm = windowed(hours(0, 1))

    def step(_turn: int) -> None:
        if farm.clock.monotonic() < HOUR_S:
            farm.clock.advance(HOUR_S)
        farm.dispatcher.take()  # each worker refuses what it takes

    assert farm.run(step).left_open == LeftOpen(WINDOW, 6, NEEDS_S)
    assert farm.clock.monotonic() < HOUR_S + 5
    assert farm.results() == []


def test_the_last_host_that_is_open_says_how_much_time_is_left() -> None:
    farm = windowed(slots=0)

    def beat(*lives: float | None, sandbox: str = "bubblewrap") -> None:
        for number, left_s in enumerate(lives):
            host = Host(
                id=f"{sandbox}/{number}",
                slots=1,
                busy=0,
                version="1",
                sandbox=sandbox,
                seen_at=farm.clock.now(),
                left_s=left_s,
            )
            farm.hosts.beat(host, 10**6)

    beat(None, sandbox="docker")  # it can run none of the cells
    beat(0.0, 700.0)
    assert farm.run(farm.works(lambda _: evidence())).left_open == LeftOpen(WINDOW, 6, NEEDS_S)
    beat(0.0, 800.0)
    assert farm.run(farm.works(lambda _: evidence()), farm.coordinator("second")).kind is EndKind.CLOSED
