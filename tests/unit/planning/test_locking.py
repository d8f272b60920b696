from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.model import CellOrder, PilotSize, Plan, Preregistration, SweepSpec
from farm.planning.cells import Ordering, order_cells
from farm.planning.locking import Cut, ensure_locked, lock_subject, own_code, pilot_of, read_lock
from tests.builders.gates import a_plan
from tests.builders.locks import a_lock, a_subject

TASKS = ("one", "two", "three")
PLAN = a_plan(tasks=TASKS, trials=4)


def under_a_lock() -> Plan:
    pin = ensure_locked(a_lock(PLAN), a_subject(PLAN))
    return PLAN.with_preregistration(Preregistration(lock=pin))


def test_a_plan_that_is_as_locked_gets_the_locks_pin() -> None:
    pin = ensure_locked(a_lock(PLAN), a_subject(PLAN))
    assert (pin.id, pin.digest) == ("first-protocol", a_lock(PLAN).digest)


def test_a_plan_that_differs_is_refused_with_each_difference() -> None:
    other = PLAN.model_copy(update={"trials": 9, "sandbox": "docker"})
    with pytest.raises(SpecError) as refused:
        ensure_locked(a_lock(PLAN), a_subject(other))
    assert "plan.trials: locked 4, found 9" in str(refused.value)
    assert "plan.conditions.sandbox: " in str(refused.value)


def test_the_name_of_the_lock_is_no_part_of_what_it_fixes() -> None:
    spec = SweepSpec(name="demo")
    assert lock_subject(spec, PLAN) == lock_subject(spec.model_copy(update={"lock": "demo.lock"}), PLAN)
    assert lock_subject(spec, PLAN).spec != lock_subject(spec.model_copy(update={"trials": 3}), PLAN).spec


def test_our_own_code_is_the_same_however_often_it_is_read() -> None:
    found = own_code()
    assert found == own_code()
    assert len({found.runner, found.analysis, found.presets}) == 3


def test_a_pilot_has_the_first_tasks_its_own_trials_and_their_cells_in_the_same_order() -> None:
    pilot = pilot_of(PLAN, Cut(most_tasks=2, trials=1))
    assert [task.id for task in pilot.tasks] == ["one", "two"]
    arms = [arm.name for arm in PLAN.arms]
    assert list(pilot.cells) == list(order_cells(["one", "two"], arms, 1, Ordering(CellOrder.ROTATED)))
    assert pilot.preregistration == Preregistration(pilot=PilotSize(tasks=2, of_tasks=3, trials=1, of_trials=4))


def test_more_trials_than_were_locked_are_a_pilot_too() -> None:
    pilot = pilot_of(under_a_lock(), Cut(trials=5))
    assert pilot.preregistration is not None
    assert pilot.preregistration.lock is not None
    assert not pilot.preregistration.is_locked


@pytest.mark.parametrize("cut", [Cut(), Cut(most_tasks=3), Cut(most_tasks=20, trials=4)])
def test_a_cut_that_leaves_all_is_no_pilot(cut: Cut) -> None:
    plan = under_a_lock()
    assert pilot_of(plan, cut) is plan


def test_a_pilot_has_a_digest_of_its_own() -> None:
    assert pilot_of(PLAN, Cut(trials=1)).digest != a_plan(tasks=TASKS, trials=1).digest


def test_a_lock_file_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "demo.lock").write_text(a_lock(PLAN).model_dump_json(indent=2))
    assert read_lock(tmp_path / "demo.lock") == a_lock(PLAN)


def test_a_file_that_is_no_lock_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "demo.lock").write_text('{"id": "x"}')
    with pytest.raises(SpecError, match=r"demo\.lock is not a lock: statement: "):
        read_lock(tmp_path / "demo.lock")
