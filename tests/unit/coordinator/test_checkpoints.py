"""Checkpoints: what they save, and when they count for nothing."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from farm.adapters.memory import MemoryStore
from farm.coordinator import events as on
from farm.coordinator.budget import Account, Budget, Used
from farm.coordinator.checkpoints import Checkpoints, latest
from farm.coordinator.ledger import mask_of
from farm.coordinator.machine import Policies, advance, begin
from farm.coordinator.progress import Pulse, Tally
from farm.model import Checkpoint, Digest, FaultKind, Outcome, Plan, SweepId, canonical_json, pack, parse_record, unpack
from farm.model.keys import checkpoints_prefix
from tests.builders.sweeps import START, a_plan, evidence, fault

SWEEP = SweepId("demo-000000000000.1")
CELLS = 1100
FAILED = (7, 400, 1099)
RETRIED = (8, 400)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return a_plan(trials=600)


@pytest.fixture
def records():
    return MemoryStore().records


def an_outcome(plan: Plan, index: int) -> Outcome:
    return Outcome(
        sweep=SWEEP,
        plan=plan.digest,
        cell=plan.cells[index].id,
        attempt=2 if index in RETRIED else 1,
        host="h",
        holder="h/1",
        started_at=START,
        ended_at=START,
        evidence=None if index in FAILED else evidence(),
        fault=fault(FaultKind.TASK) if index in FAILED else None,
        doors=() if index in FAILED else None,
    )


def a_tally(plan: Plan, cells: int = CELLS) -> Tally:
    tally = Tally(SWEEP, plan)
    for index in range(cells):
        tally.count(index, an_outcome(plan, index), (None,) if index in RETRIED else ())
    return tally


@pytest.fixture
def kept(records, plan: Plan) -> Tally:
    """Count most of a sweep, and keep a checkpoint of it."""
    tally = a_tally(plan)
    Checkpoints(records, plan, 0, tally).keep()
    return tally


def keys(records) -> list[str]:
    return list(records.keys(checkpoints_prefix(SWEEP, 0)))


def test_a_new_tally_counts_at_once_what_the_checkpoint_knows(records, plan: Plan, kept: Tally) -> None:
    again = Tally(SWEEP, plan)
    restored = Checkpoints(records, plan, 0, again).restore(tuple(range(CELLS + 5)))
    assert restored == on.Restored(done=mask_of(tuple(range(CELLS))), unusable=mask_of(FAILED))
    assert again.progress(Pulse()) == kept.progress(Pulse())
    again.count(CELLS, an_outcome(plan, CELLS), ())
    kept.count(CELLS, an_outcome(plan, CELLS), ())
    assert again.checkpoint(plan.digest) == kept.checkpoint(plan.digest)


def test_what_attempts_with_a_provider_used_is_back_in_the_budget(records, plan: Plan) -> None:
    old, new = plan.arms
    priced = plan.model_copy(update={"arms": (old.model_copy(update={"provider": "p"}), new)})
    Checkpoints(records, priced, 0, a_tally(priced)).keep()
    restored = Checkpoints(records, priced, 0, Tally(SWEEP, priced)).restore(tuple(range(CELLS)))
    assert restored is not None
    usable = CELLS // 2 - sum(index % 2 == 0 for index in FAILED)
    retried = sum(index % 2 == 0 for index in RETRIED)
    assert restored.cost == Used(usable * Decimal("0.25"), retried)
    assert restored.tokens == Used(Decimal(0), usable + retried)
    begun = begin(4, Policies(budget=Budget(cost=Account(most=Decimal(500), each=Decimal(1)))))
    state, _ = advance(begun, on.Restored(3, 0, cost=restored.cost))
    assert state.budget.cost.spent_at_most == usable * Decimal("0.25") + retried


def test_what_was_tried_again_is_known(records, plan: Plan, kept: Tally) -> None:
    counted = latest(records, (kept.sweep, plan.digest), 0, mask_of(tuple(range(CELLS))))
    assert counted is not None
    assert counted.retried == mask_of(RETRIED)


def test_a_small_sweep_keeps_none_and_a_big_one_few(records, plan: Plan) -> None:
    tally = a_tally(plan, 999)
    checkpoints = Checkpoints(records, plan, 0, tally)
    checkpoints.keep()
    assert keys(records) == []
    tally.count(999, an_outcome(plan, 999), ())
    checkpoints.keep()
    tally.count(1000, an_outcome(plan, 1000), ())
    checkpoints.keep()
    assert len(keys(records)) == 1


def damages(records, plan: Plan) -> Iterator[bytes]:
    """Yield bodies that are no checkpoint of this sweep."""
    body = records.bodies[keys(records)[0]]
    whole = parse_record(Checkpoint, body, "a checkpoint")
    yield b""
    yield b"{"
    yield body[:-20]
    yield canonical_json(whole.model_copy(update={"done": pack(mask_of((1, 2)))}))
    yield canonical_json(whole.model_copy(update={"done": "no bits"}).checked())
    yield canonical_json(whole.model_copy(update={"plan": Digest("1" * 64)}).checked())
    yield canonical_json(whole.model_copy(update={"sweep": SweepId("other-1.1")}).checked())
    assert plan.digest == whole.plan


@pytest.mark.parametrize("number", range(7))
@pytest.mark.usefixtures("kept")
def test_one_that_is_damaged_or_of_another_plan_counts_for_nothing(records, plan: Plan, number: int) -> None:
    records.bodies[keys(records)[0]] = list(damages(records, plan))[number]
    tally = Tally(SWEEP, plan)
    assert Checkpoints(records, plan, 0, tally).restore(tuple(range(CELLS))) is None
    assert tally.done == 0


@pytest.mark.usefixtures("kept")
def test_one_that_counts_results_which_are_not_there_counts_for_nothing(records, plan: Plan) -> None:
    there = tuple(index for index in range(CELLS) if index != 500)
    assert Checkpoints(records, plan, 0, Tally(SWEEP, plan)).restore(there) is None


@pytest.mark.usefixtures("kept")
def test_behind_one_that_counts_for_nothing_an_older_one_is_found(records, plan: Plan) -> None:
    records.create(keys(records)[0].replace("1100", "1200"), b"{")
    assert Checkpoints(records, plan, 0, Tally(SWEEP, plan)).restore(tuple(range(CELLS))) is not None


@pytest.mark.usefixtures("kept")
def test_a_shard_has_its_own(records, plan: Plan) -> None:
    assert Checkpoints(records, plan, 2, Tally(SWEEP, plan)).restore(tuple(range(CELLS))) is None


def test_bits_come_back_as_they_were() -> None:
    for bits in (0, 1, 2**70, 2**1000 - 1, mask_of((3, 5, 99))):
        assert unpack(pack(bits)) == bits
    assert mask_of(()) == 0
