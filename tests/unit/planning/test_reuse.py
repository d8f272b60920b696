"""Which cells a plan takes over, and which it pays for all the same."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from farm.errors import IntegrityError, SpecError
from farm.finalizer.finalize import finalize
from farm.model import (
    ArmRole,
    CellId,
    Digest,
    ExitReason,
    FaultKind,
    Outcome,
    Pin,
    Plan,
    SessionReport,
    Settlement,
    Ticket,
    canonical_json,
    parse_record,
    result_of,
)
from farm.model.keys import outcome_key, result_key, settlement_key
from farm.planning.carrying import Source
from farm.planning.priors import Damaged, Prior, read_priors
from farm.planning.reuse import Paid
from farm.testing.clock import START, FakeClock
from tests.builders.finalizing import gates, render
from tests.builders.reusing import DAY, a_store, a_task, changed, measure, proven, reuse, taking_over
from tests.builders.sweeps import Farm, Finding, a_plan, evidence, fault

OLD = [f"task.old.{trial}" for trial in (1, 2, 3)]


def test_an_incumbent_is_taken_over_but_for_its_first_cell_and_a_candidate_is_measured() -> None:
    first = measure()
    found = reuse(first.plan, first.source).selection
    assert list(found.taken) == OLD[1:]
    assert found.paid == {OLD[0]: Paid.CANARY}
    assert {prior.origin.sweep for prior in found.taken.values()} == {first.sweep}
    assert (found.saved_usd, found.saved_s, found.of_unknown_cost) == (0.5, 3.0, 0)


def test_case_51_prior_results_with_more_trials_than_planned_leave_the_canary_paid() -> None:
    first = measure(a_plan(trials=9))
    assert reuse(a_plan(trials=2), first.source).selection.paid == {OLD[0]: Paid.CANARY}


def test_a_comparator_is_taken_over_and_a_control_is_not() -> None:
    old, new = a_plan().arms
    roles = {"comparator": ArmRole.COMPARATOR, "control": ArmRole.CONTROL}
    arms = (old, *(new.model_copy(update={"name": name, "role": role}) for name, role in roles.items()))
    cells = tuple(
        cell.model_copy(update={"arm": arm.name}) for cell in a_plan().cells if cell.arm == "old" for arm in arms
    )
    first = measure(changed(a_plan(), arms=arms, cells=cells))
    taken = reuse(first.plan, first.source).selection.taken
    assert {prior.row.arm for prior in taken.values()} == {"old", "comparator"}


def test_a_wrong_answer_is_taken_over_as_a_right_one_is() -> None:
    def wrong(plan: Plan, ticket: Ticket) -> Finding:
        return proven(plan, ticket, oracle=evidence(correct=ticket.cell != OLD[1]).oracle)

    first = measure(find=wrong)
    assert list(reuse(first.plan, first.source).selection.taken) == OLD[1:]
    assert [first.rows()[cell].oracle.correct for cell in OLD[1:]] == [False, True]  # type: ignore[union-attr]  # measured


def session(reason: str) -> SessionReport:
    return evidence().sessions[0].model_copy(update={"reason": reason})


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        (ExitReason.WALL_LIMIT, None),
        (ExitReason.SKILL_NOT_INVOKED, Paid.INVALID),
        (ExitReason.SKILL_UNVERIFIED, Paid.INVALID),
    ],
)
def test_a_limit_reached_is_the_arms_doing_and_evidence_that_does_not_hold_is_nobodys(
    reason: str, why: Paid | None
) -> None:
    first = measure(find=lambda plan, ticket: proven(plan, ticket, sessions=(session(reason),)))
    assert reuse(first.plan, first.source).selection.paid.get(OLD[1]) == why


def test_a_check_that_could_not_be_completed_and_a_fault_are_measured_again() -> None:
    def broken(plan: Plan, ticket: Ticket) -> Finding:
        if ticket.cell == OLD[1]:
            return fault(FaultKind.EVIDENCE)
        oracle = evidence().oracle.model_copy(update={"correct": None, "problem": "the check broke"})
        return proven(plan, ticket, oracle=oracle)

    first = measure(find=broken)
    assert reuse(first.plan, first.source).selection.paid == dict.fromkeys(OLD, Paid.INVALID)


def test_case_83_whatever_determines_a_measurement_must_be_the_same() -> None:
    first = measure()
    asked = a_task(first.plan, prompt=Digest.of(b"another prompt"))
    assert reuse(asked, first.source).selection.paid == dict.fromkeys(OLD, Paid.LOCK)
    newer = changed(first.plan, farm_version="2")
    assert reuse(newer, first.source).selection.paid == dict.fromkeys(OLD, Paid.LOCK)
    agents = tuple(arm.model_copy(update={"agent": Pin(name="scripted", version="2")}) for arm in first.plan.arms)
    updated = changed(first.plan, arms=agents)
    assert reuse(updated, first.source).selection.paid == dict.fromkeys(OLD, Paid.LOCK)


def test_what_was_measured_as_a_candidate_is_not_taken_over_by_an_incumbent_of_its_name() -> None:
    first = measure()
    old, new = first.plan.arms
    swapped = (old.model_copy(update={"role": ArmRole.CANDIDATE}), new.model_copy(update={"role": ArmRole.INCUMBENT}))
    promoted = changed(first.plan, arms=swapped)
    assert set(reuse(promoted, first.source).selection.paid.values()) == {Paid.ROLE}


def test_case_82_age_counts_from_the_first_measurement_through_any_chain_of_copies() -> None:
    store = a_store()
    first = measure(store=store)
    second = measure(taking_over(first.plan, reuse(first.plan, first.source), store), store, at=START + 60 * DAY)
    third_plan = first.plan
    found = reuse(third_plan, second.source, at=START + 80 * DAY).selection
    assert {cell: prior.origin.sweep for cell, prior in found.taken.items()} == dict.fromkeys(OLD[1:], first.sweep)
    late = reuse(third_plan, second.source, at=START + 100 * DAY).selection
    assert {late.paid.get(cell) for cell in OLD[1:]} == {Paid.OLD}
    assert OLD[0] in late.taken, "its canary was measured later"


def test_case_82_a_measurement_from_the_future_is_corrupt() -> None:
    first = measure()
    found = reuse(first.plan, first.source, at=START - timedelta(seconds=1)).selection
    assert found.paid == dict.fromkeys(OLD, Paid.FUTURE)


def test_two_measurements_of_one_cell_block_it_and_a_copy_of_one_does_not() -> None:
    store = a_store()
    first, again = measure(store=store), measure(store=store, at=START + timedelta(hours=1))
    both = reuse(first.plan, first.source, again.source).selection
    assert both.paid == dict.fromkeys(OLD, Paid.CONFLICT)
    copied = measure(taking_over(first.plan, reuse(first.plan, first.source), store), store)
    found = reuse(first.plan, first.source, copied.source).selection
    assert (list(found.taken), found.paid) == (OLD[1:], {OLD[0]: Paid.CONFLICT})


def test_an_unsealed_or_unknown_sweep_gives_nothing() -> None:
    farm = Farm(a_plan(trials=7))
    with pytest.raises(SpecError, match=r"no sealed sweep .* farm finalize"):
        list(read_priors(measure().store, farm.sweep, set(OLD)))


def test_a_changed_outcome_is_measured_again_and_a_changed_head_is_told() -> None:
    first = measure()
    bodies = first.store.records.bodies
    key = outcome_key(first.sweep, first.plan.cells[2].id, 1)
    better = parse_record(Outcome, bodies[key], key).model_copy(update={"host": "elsewhere"})
    bodies[key] = canonical_json(better)
    found = reuse(first.plan, first.source).selection
    assert (list(found.taken), found.paid[first.plan.cells[2].id]) == ([OLD[0], OLD[2]], Paid.DAMAGED)
    head = settlement_key(first.sweep)
    settlement = parse_record(Settlement, bodies[head], head).model_copy(update={"workers_settled": False})
    bodies[head] = canonical_json(settlement)
    with pytest.raises(IntegrityError, match="was sealed"):
        reuse(first.plan, first.source)


def test_a_copy_that_is_not_what_was_measured_is_not_taken_over() -> None:
    store = a_store()
    first = measure(store=store)
    second = measure(taking_over(first.plan, reuse(first.plan, first.source), store), store)
    origin = reuse(first.plan, second.source).selection.taken[first.plan.cells[2].id].origin
    store.blobs.bodies[origin.outcome] = b"another outcome"
    read: Iterator[Prior | Damaged] = read_priors(store, second.sweep, {first.plan.cells[2].id})
    assert [type(one) for one in read] == [Damaged]


def test_a_sealed_copy_that_says_something_else_than_its_origin_is_not_taken_over() -> None:
    store = a_store()
    first = measure(store=store)
    plan = taking_over(first.plan, reuse(first.plan, first.source), store)
    farm, cell = Farm(plan, clock=FakeClock(START + DAY), store=store), CellId(OLD[1])
    farm.run(farm.works(lambda ticket: proven(plan, ticket)))
    key, bodies = outcome_key(farm.sweep, cell, 1), store.records.bodies
    forged = parse_record(Outcome, bodies[key], key).model_copy(update={"host": "faster"})
    bodies[key] = canonical_json(forged)
    bodies[result_key(farm.sweep, cell)] = canonical_json(result_of(forged, Digest.of(bodies[key])))
    finalize(farm.sweep, farm.finalizer_ports, gates, render)
    found = reuse(first.plan, Source(store, farm.sweep)).selection
    assert found.paid[cell] == Paid.DAMAGED
    assert OLD[2] in found.taken


@pytest.mark.parametrize("cells", [["task.new.1"], ["task.old.4"], OLD])
def test_no_plan_takes_over_a_candidate_a_cell_that_it_has_not_or_an_arm_whole(cells: list[str]) -> None:
    first = measure()
    origin = next(iter(reuse(first.plan, first.source).origins.values()))
    with pytest.raises(ValueError, match=r"a plan (reuses|would measure nothing)"):
        changed(first.plan, reused=dict.fromkeys(cells, origin))
