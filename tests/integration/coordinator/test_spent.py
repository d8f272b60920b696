"""What of a budget is used, told from the records alone."""

from decimal import Decimal

from farm.adapters.memory import MemoryStore
from farm.cli.counting import count, outline
from farm.cli.spent import spent_words
from farm.model import CellBudget, FaultKind, Plan, SweepBudget
from tests.builders.sweeps import Farm, Worker, a_plan, evidence, fault


def words(store: MemoryStore, farm: Farm) -> str | None:
    outlined = outline(store, farm.sweep)
    return spent_words(store.records, outlined, count(store.records, outlined, 1))


def test_what_attempts_used_is_told_and_what_runs_counts_as_reserved() -> None:
    plan = a_plan(budget=SweepBudget(cost_usd=Decimal(9)), cell_budget=CellBudget(cost_usd=Decimal("0.5")))
    arms = tuple(arm.model_copy(update={"provider": "acme"}) for arm in plan.arms)
    farm = Farm(Plan.model_validate(plan.model_copy(update={"arms": arms}).model_dump()), slots=2)
    store = MemoryStore()
    store.records = farm.records
    assert words(store, farm) == "$0.00 of $9.00 used"
    worker = Worker(farm)
    ends = {0: evidence(), 1: evidence(cost=None), 2: fault(FaultKind.HOST)}

    def step(_turn: int) -> bool:
        for ticket in farm.dispatcher.take():
            assert worker.claim(ticket)
            if ticket.index in ends:
                worker.finish(ticket.index, ends[ticket.index])
        return 3 in worker.held

    farm.run(step)
    assert words(store, farm) == (
        "$0.25 of $9.00 used, at most $1.00 more in 2 attempts that nobody could measure, $0.50 reserved"
    )
