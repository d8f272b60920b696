"""Submitting a plan."""

import pytest

from farm.adapters.memory import MemoryStore
from farm.coordinator.submit import submit
from farm.errors import SpecError
from farm.model import Opening, canonical_json, parse_record
from farm.model.keys import open_key, plan_key
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
