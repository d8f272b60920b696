"""Counting for `farm status`: the same numbers with a checkpoint and without, and the same last faults."""

from dataclasses import dataclass

import pytest

from farm.adapters.memory import MemoryStore
from farm.cli.counting import ArmCount, count, outline, set_bits
from farm.cli.recent_faults import recent_faults
from farm.coordinator.checkpoints import Checkpoints
from farm.coordinator.progress import Tally
from farm.coordinator.submit import submit
from farm.coordinator.sweep_records import StoredOutcome, SweepRecords
from farm.errors import IntegrityError, SpecError
from farm.model import Digest, FaultKind, Outcome, Plan, SweepId, canonical_json
from farm.model.keys import outcome_key, plan_key
from farm.testing.clock import FakeClock
from tests.builders.sweeps import START, a_plan, evidence, fault

CELLS = 2200
FAILED = {3, 2050, 2100}
RETRIED = {9, 2070}
RUNNING = 2201
"""Its first attempt failed, and the second runs."""


@dataclass
class CountingStore:
    """A store in memory that counts reads."""

    store: MemoryStore
    reads: int = 0

    @property
    def records(self) -> "CountingStore":
        return self

    def read(self, key: str) -> bytes | None:
        self.reads += 1
        return self.store.records.read(key)

    def keys(self, prefix: str):
        return self.store.records.keys(prefix)


def an_outcome(plan: Plan, sweep: SweepId, index: int, attempt: int, kind: FaultKind | None) -> Outcome:
    return Outcome(
        sweep=sweep,
        plan=plan.digest,
        cell=plan.cells[index].id,
        attempt=attempt,
        host="h",
        holder="h/1",
        started_at=START,
        ended_at=START,
        evidence=evidence() if kind is None else None,
        fault=None if kind is None else fault(kind),
    )


@dataclass
class Big:
    """A sweep of which most cells have a result, and a checkpoint that knows all but the last hundred."""

    store: MemoryStore
    sweep: SweepId

    def without_checkpoint(self) -> MemoryStore:
        bare = MemoryStore()
        bodies = self.store.records.bodies.items()
        bare.records.bodies.update({key: body for key, body in bodies if "/checkpoints/" not in key})
        return bare


@pytest.fixture(scope="module")
def big() -> Big:
    plan, store = a_plan(trials=1150), MemoryStore()
    sweep = submit(plan, 1, store.records, "ada", FakeClock())
    records, tally = SweepRecords(store.records, sweep), Tally(sweep, plan)

    def put(outcome: Outcome) -> StoredOutcome:
        body = canonical_json(outcome)
        store.records.create(outcome_key(sweep, outcome.cell, outcome.attempt), body)
        return StoredOutcome(outcome, Digest.of(body))

    for index in range(CELLS):
        earlier = [an_outcome(plan, sweep, index, 1, FaultKind.HOST)] if index in RETRIED else []
        kind = FaultKind.TASK if index in FAILED else None
        for one in earlier:
            put(one)
        stored = put(an_outcome(plan, sweep, index, 1 + len(earlier), kind))
        records.settle(index, stored)
        tally.count(index, stored.outcome, tuple(earlier))
        if index == CELLS - 100:
            Checkpoints(store.records, plan, 0, tally).keep()
    put(an_outcome(plan, sweep, RUNNING, 1, FaultKind.HOST))
    return Big(store, sweep)


def test_the_numbers_are_the_same_with_a_checkpoint_and_few_results_are_read(big: Big) -> None:
    with_it, without = CountingStore(big.store), CountingStore(big.without_checkpoint())
    counts = [count(one, outline(one, big.sweep), 1) for one in (with_it, without)]
    assert counts[0].arms == counts[1].arms == (ArmCount("old", 1150, 1098, 2), ArmCount("new", 1150, 1099, 1))
    assert counts[0].settled == counts[1].settled == 2**CELLS - 1
    assert with_it.reads < 110
    assert without.reads > CELLS


def test_the_last_faults_are_told_from_some_dozens_of_reads(big: Big) -> None:
    told = []
    for store in (CountingStore(big.store), CountingStore(big.without_checkpoint())):
        outlined = outline(store, big.sweep)
        counted = count(store, outlined, 1)
        store.reads = 0
        told.append({(one.cell, one.attempt, one.kind) for one in recent_faults(store, outlined, counted)})
        assert store.reads < 60
    cells = outlined.cells
    assert told[0] == told[1]
    assert told[0] <= {
        *((cells[index], 1, "task") for index in FAILED),
        *((cells[index], 1, "host") for index in (*RETRIED, RUNNING)),
    }
    assert len(told[0]) == 5


def test_a_plan_that_is_none_is_damage_and_an_unknown_sweep_a_mistake(big: Big) -> None:
    bare = big.without_checkpoint()
    with pytest.raises(SpecError, match="holds no sweep"):
        outline(bare, SweepId("other-1.1"))
    for body in (b"{", b"[]", b"{}", b'{"cells":[{}]}', b'{"cells":[]}'):
        bare.records.bodies[plan_key(big.sweep)] = body
        with pytest.raises(IntegrityError, match="is not a valid Plan"):
            outline(bare, big.sweep)


def test_set_bits_are_given_lowest_first() -> None:
    assert list(set_bits(0b1_0000_0000_0101)) == [0, 2, 12]
    assert list(set_bits(0)) == []
