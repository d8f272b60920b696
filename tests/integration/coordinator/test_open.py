"""`farm coordinate --open` over its ports in memory, on a clock that moves when told."""

from datetime import timedelta

import pytest

from farm.cli.drive import Drive
from farm.cli.open_end import coordinate_open
from farm.coordinator.loop import EndKind
from farm.testing.clock import START
from tests.builders.sweeps import Farm, a_plan, evidence, indices

HOUR_S = 3600.0


def hours(first: float, last: float) -> str:
    opens, closes = (START + timedelta(hours=hour) for hour in (first, last))
    return f"{opens.isoformat()}/{closes.isoformat()}"


def drive(farm: Farm) -> Drive:
    """Give a sweep in memory as the command line has it."""
    store, exchange = farm.as_the_command_line_has_it()
    return Drive(farm.sweep, store, exchange, farm.clock)


def test_an_open_coordinator_waits_for_each_window_and_goes_on_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    plan = a_plan(windows=(hours(0, 1), hours(5, 6)), durations={"task": {"old": 600.0, "new": 2000.0}})
    farm = Farm(plan, slots=1)
    work = farm.works(lambda _: evidence())
    begun = list[tuple[int, float]]()

    def step() -> bool:
        now_s = farm.clock.monotonic()
        begun.extend((index, now_s // HOUR_S) for index in indices(farm.dispatcher.sent))
        if begun and farm.clock.monotonic() < 0.5 * HOUR_S:
            farm.clock.advance(0.6 * HOUR_S)  # the first cell's; what needs more than 0.4 h does not fit any more
        work(0)
        return False

    end = coordinate_open(drive(farm), plan, step, farm.seen.append)
    assert end.kind is EndKind.CLOSED
    assert len(farm.results()) == 6
    assert {hour for _, hour in begun} == {0.0, 5.0}
    assert "they wait for a time window that leaves them time enough: the next opens at 2026-01-01 05:00 UTC" in (
        capsys.readouterr().err
    )


def test_a_person_may_end_the_wait_for_a_window() -> None:
    plan = a_plan(windows=(hours(5, 6),))
    farm = Farm(plan)
    end = coordinate_open(drive(farm), plan, lambda: farm.clock.monotonic() > HOUR_S, farm.seen.append)
    assert end.kind is EndKind.INTERRUPTED
    assert farm.dispatcher.sent == ()


def test_when_the_last_window_is_over_nothing_is_waited_for() -> None:
    plan = a_plan(windows=(hours(-2, -1),))
    farm = Farm(plan)
    end = coordinate_open(drive(farm), plan, lambda: farm.clock.monotonic() > HOUR_S, farm.seen.append)
    assert (end.kind, farm.clock.monotonic() < HOUR_S) == (EndKind.LEFT_OPEN, True)
