"""The coordinator's loop over ports in memory: which queues its tickets go to, and which hosts it counts."""

from farm.coordinator.loop import EndKind
from farm.coordinator.queues import QUEUE_TTL_S
from farm.model import CellId, Host, queue_of, sandbox_need
from tests.builders.sweeps import Farm, a_plan, evidence

ANY_HOST = frozenset({sandbox_need("bubblewrap")})
WITH_ACME = ANY_HOST | {"provider acme"}
LONG_S = 10.0**6


def a_farm(trials: int = 1, slots: int = 4) -> Farm:
    """A sweep whose candidate needs a provider."""
    plan = a_plan(trials)
    old, new = plan.arms
    return Farm(plan.model_copy(update={"arms": (old, new.model_copy(update={"requires": ("provider acme",)}))}), slots)


def a_host(farm: Farm, name: str, busy: int = 0, offers: tuple[str, ...] = ()) -> Host:
    now = farm.clock.now()
    return Host(id=name, slots=3, busy=busy, version="1", sandbox="bubblewrap", seen_at=now, offers=offers)


def test_each_arms_tickets_go_to_the_queue_of_what_it_needs_and_that_is_told_for_as_long_as_it_runs() -> None:
    farm = a_farm(trials=2)
    farm.hosts.beat(a_host(farm, "acme", offers=("provider acme",)), LONG_S)

    def step(turn: int) -> bool:
        if turn == 1:
            queues = {ticket.cell: ticket.queue for ticket in farm.dispatcher.sent}
            assert queues["task.old.1"] == queue_of(ANY_HOST) != queues["task.new.1"] == queue_of(WITH_ACME)
            assert set(farm.queues.known()) == {ANY_HOST, WITH_ACME}
            farm.clock.advance(2 * QUEUE_TTL_S)
            assert farm.queues.known() == ()
        return turn > 1 and set(farm.queues.known()) == {ANY_HOST, WITH_ACME}

    assert farm.run(step).kind is EndKind.INTERRUPTED


def test_an_arm_that_no_host_can_run_waits_and_stops_no_other() -> None:
    farm = a_farm(trials=20)
    works, done_before = farm.works(lambda _: evidence()), list[int]()

    def step(turn: int) -> None:
        works(turn)
        if len(farm.results()) == 20 and turn > 100 and not done_before:
            done_before.extend(plan_index(farm, cell) for cell in farm.results())
            assert "it lacks provider acme" in (farm.seen[-1].waiting or "")
            farm.hosts.beat(a_host(farm, "acme", offers=("provider acme",)), LONG_S)

    assert farm.run(step).kind is EndKind.CLOSED
    assert {farm.plan.cells[index].arm for index in done_before} == {"old"}
    assert len(farm.results()) == 40
    assert all(farm.attempts(index) == [1] for index in range(40))


def plan_index(farm: Farm, cell: str) -> int:
    return [one.id for one in farm.plan.cells].index(CellId(cell))


def test_only_slots_that_can_run_a_cell_of_the_sweep_bring_tickets() -> None:
    farm = Farm(a_plan(trials=20), slots=1)
    elsewhere = a_host(farm, "docker").model_copy(update={"sandbox": "docker", "slots": 50})
    farm.hosts.beat(elsewhere, LONG_S)

    def step(turn: int) -> bool:
        return turn > 5

    farm.run(step)
    assert 0 < len(farm.dispatcher.sent) <= 4


def test_a_ticket_is_not_sent_again_soon_because_a_host_is_idle_that_can_not_take_it() -> None:
    farm = a_farm(slots=0)
    farm.hosts.beat(a_host(farm, "able", busy=3, offers=("provider acme",)), LONG_S)
    farm.hosts.beat(a_host(farm, "idle"), LONG_S)
    sent = list[str]()

    def step(_turn: int) -> bool:
        sent.extend(ticket.cell for ticket in farm.dispatcher.take())
        return farm.clock.monotonic() > 30

    farm.run(step)
    assert sent.count("task.new.1") == 1
    assert sent.count("task.old.1") > 1
