"""What a task says of the workspace that its sessions find, in its plan."""

from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.model import Setup, SetupLimits
from tests.builders.planning import SWEEP, a_sweep, planned

ORACLE = "    oracle: {kind: check, files: oracle}\n"


def with_task(line: str) -> str:
    return SWEEP.replace(ORACLE, f"{ORACLE}    {line}\n")


def test_a_setup_is_pinned_and_has_ten_minutes_unless_it_says_otherwise(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path, with_task("setup: {argv: [sh, -c, make], env: {A: b}}")))
    (task,) = plan.tasks
    assert task.setup == Setup(argv=("sh", "-c", "make"), env={"A": "b"}, limits=SetupLimits(wall_s=600))
    assert plan.needed_s(plan.cells[0]) == 600 + 2400 + 120 + 30


def test_a_window_must_be_wide_enough_for_the_setup_too(tmp_path: Path) -> None:
    text = with_task("setup: {argv: [make]}") + "windows: ['22:00-22:50']\n"
    with pytest.raises(SpecError, match=r"a cell of task 'bug' may need 3150 s"):
        planned(a_sweep(tmp_path, text))
