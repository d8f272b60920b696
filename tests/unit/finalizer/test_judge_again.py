import pytest

from farm.adapters.memory import MemoryStore
from farm.errors import IntegrityError, SpecError
from farm.finalizer.judging import judge_again
from farm.gates.protocol import Gate
from farm.model import canonical_json
from farm.model.keys import cleanup_key, verdict_key
from tests.builders.sealed import a_sealed_sweep, overlay_gate


def test_a_sealed_sweep_is_judged_again_to_the_same_bytes() -> None:
    store = MemoryStore()
    sweep = a_sealed_sweep(store)
    (verdict,) = judge_again(sweep, overlay_gate, store.records)

    assert canonical_json(verdict) == store.records.read(verdict_key(sweep, "overlay"))


def test_a_settled_sweep_needs_no_verdict_to_be_judged() -> None:
    store = MemoryStore()
    sweep = a_sealed_sweep(store)
    kept = store.records.read(verdict_key(sweep, "overlay"))
    del store.records.bodies[verdict_key(sweep, "overlay")]
    (verdict,) = judge_again(sweep, overlay_gate, store.records)

    assert canonical_json(verdict) == kept
    assert store.records.read(verdict_key(sweep, "overlay")) is None


def test_a_verdict_that_stands_and_is_another_one_is_named() -> None:
    store = MemoryStore()
    sweep = a_sealed_sweep(store)
    key = verdict_key(sweep, "overlay")
    store.records.bodies[key] = store.records.bodies[key].replace(b'"fail"', b'"pass"')

    with pytest.raises(IntegrityError, match=r"verdicts/overlay\.json is not what its sweep's records give"):
        judge_again(sweep, overlay_gate, store.records)


def test_a_gate_of_another_version_never_judges_again() -> None:
    store = MemoryStore()
    sweep = a_sealed_sweep(store)

    def newer(name: str) -> Gate:
        gate = overlay_gate(name)
        gate.version = "5"
        return gate

    with pytest.raises(SpecError, match="pins gate 'overlay' at version 4, and 5 is installed"):
        judge_again(sweep, newer, store.records)


def test_a_sweep_that_is_not_settled_is_not_judged() -> None:
    store = MemoryStore()
    sweep = a_sealed_sweep(store)
    del store.records.bodies[cleanup_key(sweep)]

    with pytest.raises(SpecError, match=r"cleanup\.json"):
        judge_again(sweep, overlay_gate, store.records)
