"""The auditor sees what it is there to see: each law broken once, in records that were sound before."""

from collections.abc import Callable

import pytest

from farm.adapters.memory import MemoryStore
from farm.coordinator.sweep_records import SweepRecords
from farm.model import Claim, CloseReason, Digest, Fault, FaultKind, SweepId, canonical_json
from farm.model.keys import (
    blob_key,
    claim_key,
    cleanup_key,
    close_key,
    outcome_key,
    plan_key,
    result_key,
    settlement_key,
)
from farm.testing.clock import START
from tests.builders.auditor import audit
from tests.builders.gates import OFF, ON
from tests.builders.sealed import LOST, a_sealed_sweep

ON_1 = f"answer.{ON}.1"
OFF_2 = f"answer.{OFF}.2"


@pytest.fixture(scope="module")
def sealed() -> MemoryStore:
    """Seal once: it takes most of the time."""
    store = MemoryStore()
    a_sealed_sweep(store)
    return store


@pytest.fixture
def store(sealed: MemoryStore) -> MemoryStore:
    store = MemoryStore()
    store.blobs.bodies.update(sealed.blobs.bodies)
    store.records.bodies.update(sealed.records.bodies)
    return store


@pytest.fixture
def sweep(store: MemoryStore) -> SweepId:
    return SweepId(next(store.records.keys("sweeps/")).split("/")[1])


def found(store: MemoryStore, sweep: SweepId) -> set[str]:
    return {one.invariant for one in audit(store.records, store.blobs, sweep).violations}


def test_a_sealed_sweep_keeps_every_law(store: MemoryStore, sweep: SweepId) -> None:
    audited = audit(store.records, store.blobs, sweep)
    assert not audited.told
    assert (audited.results, audited.claims) == (3, 4)
    assert audit(store.records, store.blobs, sweep, audited.digests) == audited


def test_a_sweep_without_a_plan_is_lost(store: MemoryStore) -> None:
    assert found(store, SweepId("none-000000000000.1")) == {"I3"}


Damage = Callable[[MemoryStore, SweepId], None]


def drops(key: Callable[[SweepId], str]) -> Damage:
    return lambda store, sweep: store.records.bodies.__delitem__(key(sweep))


def claims_again(store: MemoryStore, sweep: SweepId) -> None:
    claim = Claim(sweep=sweep, cell=ON_1, attempt=2, holder="h/9", host="h", claimed_at=START)
    store.records.create(claim_key(sweep, ON_1, 2), canonical_json(claim))


def claims_as_another(store: MemoryStore, sweep: SweepId) -> None:
    claim = Claim(sweep=sweep, cell=ON_1, attempt=1, holder="h/9", host="h", claimed_at=START)
    store.records.bodies[claim_key(sweep, ON_1, 1)] = canonical_json(claim)


def loses_anew(store: MemoryStore, sweep: SweepId) -> None:
    records = SweepRecords(store.records, sweep)
    index = records.plan.index_by_cell[LOST.id]
    del store.records.bodies[outcome_key(sweep, LOST.id, 1)]
    records.write_lost(index, 1, START)


def changes_an_outcome(store: MemoryStore, sweep: SweepId) -> None:
    key = outcome_key(sweep, ON_1, 1)
    store.records.bodies[key] = store.records.bodies[key].replace(b'"attempt":1', b'"attempt":3')


def breaks_an_outcome(store: MemoryStore, sweep: SweepId) -> None:
    store.records.bodies[outcome_key(sweep, ON_1, 1)] = b"{"


def closes_as_complete(store: MemoryStore, sweep: SweepId) -> None:
    for key in (close_key(sweep), settlement_key(sweep), cleanup_key(sweep)):
        del store.records.bodies[key]
    SweepRecords(store.records, sweep).write_close(CloseReason.COMPLETE, "", START)


def counts_an_interruption(store: MemoryStore, sweep: SweepId) -> None:
    records = SweepRecords(store.records, sweep)
    index = records.plan.index_by_cell[OFF_2]
    stored = records.outcome(index, 1)
    assert stored is not None
    fault = Fault(kind=FaultKind.CANCELLED, detail="shut down")
    outcome = stored.outcome.model_copy(update={"evidence": None, "fault": fault})
    store.records.bodies[outcome_key(sweep, OFF_2, 1)] = canonical_json(outcome)
    del store.records.bodies[result_key(sweep, OFF_2)]
    again = records.outcome(index, 1)
    assert again is not None
    records.settle(index, again)


def loses_a_blob(store: MemoryStore, sweep: SweepId) -> None:
    records = SweepRecords(store.records, sweep)
    stored = records.outcome(records.plan.index_by_cell[OFF_2], 1)
    assert stored is not None
    assert stored.outcome.artifacts
    del store.blobs.bodies[stored.outcome.artifacts[0].digest]


@pytest.mark.parametrize(
    ("damage", "invariant"),
    [
        (drops(close_key), "I7"),
        (drops(settlement_key), "I7"),
        (drops(cleanup_key), "I7"),
        (drops(plan_key), "I3"),
        (drops(lambda sweep: claim_key(sweep, ON_1, 1)), "I5"),
        (drops(lambda sweep: outcome_key(sweep, ON_1, 1)), "I1"),
        (drops(lambda sweep: outcome_key(sweep, LOST.id, 1)), "I5"),
        (drops(lambda sweep: result_key(sweep, ON_1)), "I2"),
        (claims_again, "I1"),
        (claims_again, "I5"),
        (claims_as_another, "I5"),
        (loses_anew, "I2"),
        (changes_an_outcome, "I5"),
        (breaks_an_outcome, "I2"),
        (closes_as_complete, "I3"),
        (counts_an_interruption, "I1"),
        (loses_a_blob, "I2"),
    ],
)
def test_each_law_that_is_broken_is_named(store: MemoryStore, sweep: SweepId, damage: Damage, invariant: str) -> None:
    damage(store, sweep)
    assert invariant in found(store, sweep)


def test_what_an_earlier_audit_saw_may_neither_change_nor_go(store: MemoryStore, sweep: SweepId) -> None:
    before = audit(store.records, store.blobs, sweep).digests
    assert blob_key(Digest("0" * 64)) not in before
    gone = {**before, f"sweeps/{sweep}/results/other.json": Digest("0" * 64)}
    assert [one.invariant for one in audit(store.records, store.blobs, sweep, gone).violations] == ["I7"]
