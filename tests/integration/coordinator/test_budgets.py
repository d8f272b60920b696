"""A whole coordinator and its sweep's budget."""

from decimal import Decimal

from farm.coordinator.effects import Deferral
from farm.coordinator.loop import EndKind
from farm.coordinator.shell import LeftOpen
from farm.model import CellBudget, FaultKind, Plan, SweepBudget
from farm.model.keys import close_key
from tests.builders.sweeps import Farm, Worker, a_plan, evidence, fault, quick_retry

BUDGET = frozenset({Deferral.BUDGET})


def costly(most: str, **changes: object) -> Plan:
    """Make a sweep of six cells, each of which reserves half a dollar and costs a quarter."""
    plan = a_plan(
        budget=SweepBudget(cost_usd=Decimal(most)), cell_budget=CellBudget(cost_usd=Decimal("0.5")), **changes
    )
    arms = tuple(arm.model_copy(update={"provider": "acme"}) for arm in plan.arms)
    return plan.model_copy(update={"arms": arms})


def test_a_used_up_budget_leaves_the_sweep_open_and_a_raised_one_finishes_it() -> None:
    farm = Farm(costly("1"), slots=8)
    work = farm.works(lambda _: evidence())
    first = farm.run(work)
    assert first.kind is EndKind.LEFT_OPEN
    assert first.left_open == LeftOpen(BUDGET, 3, 0.0, "$0.75 of $1.00 used")
    assert (len(farm.results()), farm.records.read(close_key(farm.sweep))) == (3, None)
    again = farm.run(work, farm.coordinator("second"))
    assert again.left_open == first.left_open, "nothing more is spent, and nothing is counted twice"
    farm.budget = SweepBudget(cost_usd=Decimal(2))
    assert farm.run(work, farm.coordinator("third")).kind is EndKind.CLOSED
    assert [farm.attempts(index) for index in range(6)] == [[1]] * 6
    assert farm.seen[-1].budget == "$1.50 of $2.00 used"


def test_attempts_that_do_not_count_and_those_that_nobody_measured_are_in_the_budget() -> None:
    farm = Farm(costly("1.5", retry=quick_retry()), slots=1)
    ends = {(0, 1): fault(FaultKind.HOST), (1, 1): evidence(cost=None)}
    end = farm.run(farm.works(lambda ticket: ends.get((ticket.index, ticket.attempt), evidence())))
    words = "$0.25 of $1.50 used, at most $1.00 more in 2 attempts that nobody could measure"
    assert end.left_open == LeftOpen(BUDGET, 4, 0.0, words)
    assert end.left_open == farm.run(farm.works(lambda _: evidence()), farm.coordinator("second")).left_open


def test_what_still_runs_when_a_coordinator_starts_keeps_its_reservation() -> None:
    farm = Farm(costly("1"), slots=8)
    worker = Worker(farm)

    def begin(_turn: int) -> bool:
        return [worker.claim(ticket) for ticket in farm.dispatcher.take()] == [True, True]

    assert farm.run(begin).kind is EndKind.INTERRUPTED
    assert sorted(worker.held) == [0, 1]

    def go_on(turn: int) -> None:
        worker.renew()
        if turn == 20:
            assert farm.dispatcher.sent == (), "two that run reserve half of it each"
            worker.finish(0, evidence())
            worker.finish(1, evidence())
        elif turn > 20:
            farm.works(lambda _: evidence())(turn)

    end = farm.run(go_on, farm.coordinator("second"))
    assert (end.left_open, len(farm.results())) == (LeftOpen(BUDGET, 3, 0.0, "$0.75 of $1.00 used"), 3)


def test_cells_without_a_provider_cost_nothing_of_it() -> None:
    plan = costly("0.5")
    old = plan.arms[0].model_copy(update={"provider": None})
    farm = Farm(plan.model_copy(update={"arms": (old, plan.arms[1])}), slots=1)
    end = farm.run(farm.works(lambda _: evidence(cost=None)))
    assert end.left_open is not None
    assert (end.left_open.cells, len(farm.results())) == (2, 4)
