"""The preset `reliability`: its tasks, and what it writes out around the person's agent."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import ActionClass, ArmRole, BreakerPolicy, CellOrder, RetryPolicy, SweepSpec, TaskSpec
from farm.planning.admit import cross_checks
from farm.planning.reliability import expand, known_tasks
from tests.builders.worker.oracles import Room
from worker.oracles.files import FilesOracle

TASKS = known_tasks(180.0)
SOLVABLE = [task for task in TASKS if task.solvable]
AGENT = {"kind": "stand-in", "model": "m"}


def written(preset: dict[str, Any] | None = None, **fields: Any) -> SweepSpec:
    options = {"kind": "reliability", "agent": AGENT} | (preset or {})
    return expand(SweepSpec.model_validate({"name": "s", "preset": options} | fields), Path()).spec


def is_right(task: TaskSpec, workspace: Path) -> bool | None:
    oracle = FilesOracle(task.oracle.options)
    return oracle.find(replace(Room().request(), workspace=workspace)).correct


def laid(task: TaskSpec, place: Path) -> Path:
    return Path(shutil.copytree(task.repository.path or "", place / task.id))


def test_there_are_twenty_tasks_of_which_the_last_four_are_not_solvable() -> None:
    assert len(TASKS) == 20
    assert [task.solvable for task in TASKS] == [True] * 16 + [False] * 4


def test_each_task_says_what_may_be_done_about_it() -> None:
    named = {task.id: task.action for task in TASKS if task.action is not ActionClass.REVERSIBLE}
    assert named == {
        "already-correct-no-regression": ActionClass.READ_ONLY,
        "unsupported-external-proof": ActionClass.EXTERNAL,
        "subjective-universal-proof": ActionClass.READ_ONLY,
        "future-event-proof": ActionClass.READ_ONLY,
    }


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_nothing_done_is_wrong_but_where_all_is_right_already(task: TaskSpec, tmp_path: Path) -> None:
    assert is_right(task, laid(task, tmp_path)) is (task.id == "already-correct-no-regression")


@pytest.mark.parametrize("task", SOLVABLE, ids=lambda task: task.id)
def test_the_reference_is_right(task: TaskSpec, tmp_path: Path) -> None:
    workspace, reference = laid(task, tmp_path), task.reference
    assert reference is not None
    if reference.files is not None:
        shutil.copytree(reference.files, workspace, dirs_exist_ok=True)
    for path in reference.removes:
        (workspace / path).unlink()
    assert is_right(task, workspace) is True


def test_what_nobody_can_solve_has_a_check_that_never_holds() -> None:
    kinds = [[check["kind"] for check in task.oracle.options["checks"]] for task in TASKS if not task.solvable]  # type: ignore[index, union-attr, call-overload]  (the options are JSON)
    assert kinds == [["always_false"]] * 4


def test_three_arms_run_the_same_agent_five_times_each_in_the_diagonal_order() -> None:
    spec = written({"provider": "p"})
    assert [(arm.name, arm.role) for arm in spec.arms] == [
        ("baseline", ArmRole.INCUMBENT),
        ("governed-model-contract", ArmRole.CANDIDATE),
        ("governed-reference-contract", ArmRole.COMPARATOR),
    ]
    assert Counter((arm.agent.kind, arm.provider) for arm in spec.arms) == {("stand-in", "p"): 3}
    assert (spec.trials, spec.order) == (5, CellOrder.DIAGONAL)
    assert len(spec.tasks) * len(spec.arms) * spec.trials == 300
    assert list(cross_checks(spec)) == []


def test_every_run_is_made_once_whatever_became_of_the_others() -> None:
    spec = written()
    assert spec.breaker == BreakerPolicy(streak=0)
    assert (spec.retry.most_attempts, spec.retry.kinds) == (1, frozenset())


def test_a_sweep_file_may_ask_for_fewer_trials_or_another_retry_and_for_longer_sessions() -> None:
    spec = written({"wall_s": 600}, trials=1, retry={"most_attempts": 2})
    assert (spec.trials, spec.retry) == (1, RetryPolicy(most_attempts=2))
    assert {task.limits.wall_s for task in spec.tasks} == {600.0}


def test_what_decides_is_not_the_sweep_files_to_change() -> None:
    with pytest.raises(SpecError, match="the preset 'reliability' fixes order"):
        written(order="packed")


def test_without_an_agent_there_is_nothing_to_compare() -> None:
    with pytest.raises(SpecError, match="agent"):
        expand(SweepSpec.model_validate({"name": "s", "preset": {"kind": "reliability"}}), Path())
