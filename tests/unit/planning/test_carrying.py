"""What builds had made comes with the results that are taken over, or these are measured again."""

from farm.adapters.memory.store import MemoryStore
from farm.model import Build, Derived, Digest, Evidence, Plan, Ticket, build_lock, canonical_json
from farm.model.keys import derived_key
from farm.testing.clock import START
from tests.builders.reusing import a_store, a_task, measure, proven, reuse, taking_over
from tests.builders.sweeps import a_plan

BUILD = Build(name="lib", argv=("make",), output="lib")
MADE, OTHER = b"made once", b"made again"


def with_build() -> Plan:
    return a_task(a_plan(), builds=(BUILD,))


def key_of(plan: Plan) -> str:
    return derived_key(build_lock(plan, plan.tasks[0], BUILD))


def record(plan: Plan, store: MemoryStore, body: bytes) -> None:
    """Record that the plan's build made `body`."""
    lock = build_lock(plan, plan.tasks[0], BUILD)
    derived = Derived(
        lock=lock,
        files=store.blobs.put(body),
        size_bytes=len(body),
        task=plan.tasks[0].id,
        build="lib",
        host="h",
        made_at=START,
    )
    store.records.create(derived_key(lock), canonical_json(derived))


def saw(plan: Plan, ticket: Ticket) -> Evidence:
    return proven(plan, ticket, builds={"lib": Digest.of(MADE)})


def test_what_a_build_made_is_copied_with_its_record() -> None:
    plan, source, target = with_build(), a_store(), MemoryStore()
    record(plan, source, MADE)
    first = measure(plan, source, find=saw)
    taken = taking_over(plan, reuse(plan, first.source), target)
    assert len(taken.reused) > 0
    assert target.blobs.get(Digest.of(MADE)) == MADE
    assert target.records.read(key_of(plan)) == source.records.read(key_of(plan))


def test_nothing_is_taken_over_beside_another_output_of_the_same_build() -> None:
    plan, source, target = with_build(), a_store(), MemoryStore()
    record(plan, source, MADE)
    record(plan, target, OTHER)
    first = measure(plan, source, find=saw)
    assert len(reuse(plan, first.source).origins) > 0
    assert taking_over(plan, reuse(plan, first.source), target).reused == {}


def test_nothing_is_taken_over_whose_builds_output_is_gone() -> None:
    plan, source, target = with_build(), a_store(), MemoryStore()
    record(plan, source, MADE)
    first = measure(plan, source, find=saw)
    del source.blobs.bodies[Digest.of(MADE)]
    assert taking_over(plan, reuse(plan, first.source), target).reused == {}
