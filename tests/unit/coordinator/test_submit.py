"""Submitting a plan."""

import pytest

from farm.adapters.memory import MemoryStore
from farm.coordinator.submit import ShardPlace, submit, submit_shard
from farm.errors import SpecError
from farm.model import Opening, Shard, canonical_json, parse_record
from farm.model.keys import open_key, plan_key, shard_open_key, shards_prefix
from farm.testing.clock import FakeClock
from tests.builders.sweeps import a_plan


def test_a_submitted_plan_stands_in_the_store_with_the_instant_of_its_opening() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    sweep = submit(plan, None, records, "ada", clock)
    assert sweep == f"demo-{plan.digest[:12]}.1"
    assert records.read(plan_key(sweep)) == canonical_json(plan)
    opening = Opening(sweep=sweep, plan=plan.digest, edition=1, opened_at=clock.now(), submitted_by="ada")
    assert parse_record(Opening, records.read(open_key(sweep)) or b"", "open") == opening


def test_without_an_edition_each_submission_is_a_new_sweep() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    editions = [submit(plan, None, records, "ada", clock).rsplit(".", 1)[1] for _ in range(3)]
    assert editions == ["1", "2", "3"]


def test_the_same_edition_again_is_the_same_sweep_and_its_opening_stays() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    first = submit(plan, 2, records, "ada", clock)
    opened = records.read(open_key(first))
    clock.advance(100)
    assert submit(plan, 2, records, "bob", clock) == first
    assert records.read(open_key(first)) == opened


def test_a_free_edition_below_a_taken_one_is_taken_first() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    submit(plan, 2, records, "ada", clock)
    editions = [submit(plan, None, records, "ada", clock).rsplit(".", 1)[1] for _ in range(2)]
    assert editions == ["1", "3"]


def test_a_submission_that_died_before_the_opening_is_completed() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    sweep = submit(plan, None, records, "ada", clock)
    del records.bodies[open_key(sweep)]
    assert submit(plan, None, records, "ada", clock) == sweep


def test_another_plan_under_the_same_id_is_refused() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    sweep = submit(plan, 1, records, "ada", clock)
    records.bodies[plan_key(sweep)] += b" "
    with pytest.raises(SpecError, match="holds another plan"):
        submit(plan, 1, records, "ada", clock)


def test_shards_of_one_edition_meet_in_one_sweep_whoever_comes_first() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    joined = {
        submit_shard(plan, ShardPlace(Shard(number=number, of=3), 1), records, "ada", clock) for number in (2, 1, 3, 2)
    }
    (sweep,) = joined
    opening = parse_record(Opening, records.read(open_key(sweep)) or b"", "open")
    assert (opening.shards, opening.edition) == (3, 1)
    assert sorted(records.keys(shards_prefix(sweep))) == [shard_open_key(sweep, number) for number in (1, 2, 3)]


def test_a_shard_of_another_number_of_shards_is_refused_and_leaves_nothing() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    sweep = submit_shard(plan, ShardPlace(Shard(number=1, of=3), 1), records, "ada", clock)
    before = dict(records.bodies)
    with pytest.raises(SpecError, match="opened in 3 shards, so there is no shard 2/4"):
        submit_shard(plan, ShardPlace(Shard(number=2, of=4), 1), records, "ada", clock)
    with pytest.raises(SpecError, match="opened in 3 shards: name one"):
        submit(plan, 1, records, "ada", clock)
    assert records.bodies == before
    assert submit(plan, None, records, "ada", clock) != sweep


def test_a_sweep_in_one_piece_has_no_shards_to_join() -> None:
    plan, records, clock = a_plan(), MemoryStore().records, FakeClock()
    submit(plan, 1, records, "ada", clock)
    with pytest.raises(SpecError, match="opened in one piece"):
        submit_shard(plan, ShardPlace(Shard(number=1, of=2), 1), records, "ada", clock)
