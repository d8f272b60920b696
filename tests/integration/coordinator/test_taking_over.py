"""A sweep that takes results over from an earlier one, from its plan to its audit."""

from dataclasses import replace
from decimal import Decimal

import pytest

from farm.adapters.memory.store import MemoryStore
from farm.coordinator.loop import Coordinator, EndKind
from farm.errors import IntegrityError
from farm.model import BreakerPolicy, CellId, CloseReason, Digest, FaultKind, Outcome, canonical_json, parse_record
from farm.model.keys import outcome_key, result_key
from farm.testing.clock import START, FakeClock
from tests.builders.finalizing import Crash, DyingRecords
from tests.builders.reusing import DAY, STREAM, Measured, a_store, measure, proven, reuse, taking_over
from tests.builders.sweeps import Farm, a_plan, fault

FRESH = ["task.old.1", "task.new.1", "task.new.2", "task.new.3"]
REUSED = ["task.old.2", "task.old.3"]
LATER = START + DAY


@pytest.fixture
def first() -> Measured:
    return measure()


def again(first: Measured, store: MemoryStore) -> Measured:
    """Run the sweep again a day later, in `store`."""
    return measure(taking_over(first.plan, reuse(first.plan, first.source), store), store, at=LATER)


def test_what_is_taken_over_is_never_run_and_is_a_result_with_its_origin(first: Measured) -> None:
    second = again(first, first.store)
    assert sorted(second.ran) == sorted(FRESH)
    rows = second.rows()
    assert [cell for cell, row in rows.items() if row.reused] == REUSED
    assert {rows[cell].unsettled for cell in rows} == {None}
    key = outcome_key(second.sweep, second.plan.cells[2].id, 1)
    outcome = parse_record(Outcome, second.store.records.read(key) or b"", key)
    assert outcome.origin is not None
    assert (outcome.origin.sweep, outcome.origin.measured_at < LATER) == (first.sweep, True)
    assert rows[REUSED[0]].cost_usd == Decimal("0.25"), "what it was measured at"
    assert outcome.cost_usd == 0, "what it cost here"


def test_its_bytes_are_copied_into_another_store_and_the_whole_can_be_verified_there(first: Measured) -> None:
    elsewhere = MemoryStore()
    first_outcome = first.result(REUSED[0]).outcome
    second = again(first, elsewhere)
    elsewhere.blobs.put(STREAM)
    assert elsewhere.blobs.get(first_outcome)
    # neither the plan's inputs are in these stores nor all files of a report
    usual = {flaw.where.replace(first.sweep, second.sweep) for flaw in first.audited().flaws}
    assert {flaw.where for flaw in second.audited().flaws} == usual


def test_case_84_and_85_a_cell_whose_bytes_are_missing_or_changed_is_paid(first: Measured) -> None:
    plan, found = first.plan, reuse(first.plan, first.source)
    first.store.blobs.bodies[Digest.of(STREAM)] = b"appended"
    assert taking_over(plan, found, a_store()).reused == {}
    del first.store.blobs.bodies[Digest.of(STREAM)]
    elsewhere = MemoryStore()
    assert taking_over(plan, found, elsewhere) == plan
    assert Digest.of(STREAM) not in elsewhere.blobs.bodies


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("creation", range(1, 20, 2))
def test_a_coordinator_that_dies_between_two_records_is_taken_up_by_the_next(
    first: Measured, creation: int, *, after: bool
) -> None:
    whole = again(first, first.store)
    store = a_store()
    plan = taking_over(first.plan, reuse(first.plan, first.source), store)
    farm = Farm(plan, clock=FakeClock(LATER), store=store)
    step = farm.works(lambda ticket: proven(plan, ticket))
    dying = replace(farm.ports, records=DyingRecords(farm.records, creation, after=after))
    try:
        farm.run(step, Coordinator(farm.sweep, "first", dying))
    except Crash:
        assert farm.run(step, farm.coordinator("second")).kind is EndKind.CLOSED
    for cell in REUSED:
        for key in (outcome_key(farm.sweep, CellId(cell), 1), result_key(farm.sweep, CellId(cell))):
            assert farm.records.read(key) == whole.store.records.read(key) is not None
    assert len(farm.results()) == len(plan.cells)


def test_old_results_between_unusable_ones_do_not_hide_an_outage_from_the_breaker() -> None:
    plan = a_plan(trials=6, breaker=BreakerPolicy(streak=3))
    first = measure(plan)
    taken = taking_over(plan, reuse(plan, first.source), first.store)
    farm = Farm(taken, slots=1, clock=FakeClock(LATER), store=first.store)
    ended = farm.run(farm.works(lambda _: fault(FaultKind.EVIDENCE)))
    assert ended.close is not None
    assert ended.close.reason is CloseReason.BREAKER
    assert "task.new.2" in ended.close.detail


def test_what_is_taken_over_is_not_paid_from_the_sweeps_budget(first: Measured) -> None:
    plan = taking_over(first.plan, reuse(first.plan, first.source), first.store)
    farm = Farm(plan, clock=FakeClock(LATER), store=first.store)
    farm.run(farm.works(lambda ticket: proven(plan, ticket)))
    costs = {arm.arm: arm.cost_usd for arm in farm.seen[-1].arms}
    assert costs == {"old": Decimal("0.25"), "new": Decimal("0.75")}


def test_nothing_more_is_taken_over_once_the_sweep_is_cancelled(first: Measured) -> None:
    plan = taking_over(first.plan, reuse(first.plan, first.source), first.store)
    farm = Farm(plan, slots=1, clock=FakeClock(LATER), store=first.store)
    farm.cancel()
    farm.run(farm.works(lambda ticket: proven(plan, ticket)))
    assert farm.results() == []


def test_bytes_that_were_lost_after_submission_stop_the_coordinator_and_leave_the_sweep_open(first: Measured) -> None:
    plan = taking_over(first.plan, reuse(first.plan, first.source), first.store)
    farm = Farm(plan, clock=FakeClock(LATER), store=first.store)
    for origin in plan.reused.values():
        del farm.blobs.bodies[origin.outcome]
    with pytest.raises(IntegrityError, match="missing"):
        farm.run(farm.works(lambda ticket: proven(plan, ticket)))


def test_an_outcome_that_stands_in_the_way_is_told_and_never_counted(first: Measured) -> None:
    plan = taking_over(first.plan, reuse(first.plan, first.source), first.store)
    farm = Farm(plan, clock=FakeClock(LATER), store=first.store)
    other = parse_record(Outcome, first.store.blobs.get(next(iter(plan.reused.values())).outcome), "an outcome")
    farm.records.create(outcome_key(farm.sweep, CellId(REUSED[1]), 1), canonical_json(other))
    with pytest.raises(IntegrityError, match=f"is not what {first.sweep} measured"):
        farm.run(farm.works(lambda ticket: proven(plan, ticket)))


def flaws(measured: Measured) -> str:
    return "; ".join(flaw.problem for flaw in measured.audited().flaws)


def test_the_audit_finds_what_was_taken_over_from_elsewhere_than_the_plan_says(first: Measured) -> None:
    second = again(first, first.store)
    key = outcome_key(second.sweep, second.plan.cells[2].id, 1)
    bodies = second.store.records.bodies
    outcome = parse_record(Outcome, bodies[key], key)
    bodies[key] = canonical_json(outcome.model_copy(update={"origin": None}))
    assert "it was measured elsewhere than the plan says" in flaws(second)
    bodies[key] = canonical_json(outcome.model_copy(update={"host": "faster"}))
    assert f"it is not what {first.sweep} measured" in flaws(second)
