"""What a phase changed against what it may change, on folders alone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from farm.model import FaultKind, OracleFinding
from worker.cell.boundary import Boundary, held_to_work
from worker.cell.faults import fault_of
from worker.cell.left import BrokenBound
from worker.phases import FREE, Phase, PhaseError
from worker.trees.errors import TreeLimit
from worker.trees.scan import Tree, go_on, scan

RIGHT = OracleFinding(correct=True, numbers={"passed": 3})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("A = 1\n")
    (tmp_path / "skill.md").write_text("Be brief.\n")
    return tmp_path


def around(workspace: Path, phase: Phase, change: Callable[[Path], object]) -> Boundary:
    boundary = Boundary(workspace, go_on, scan(workspace))
    boundary.before("plan", phase)
    change(workspace)
    boundary.after("plan", phase)
    return boundary


def test_what_a_phase_may_change_is_told_as_its_footprint(workspace: Path) -> None:
    boundary, phase = Boundary(workspace, go_on, None), Phase(may_change=("docs/**",))
    boundary.before("plan", phase)
    (workspace / "docs").mkdir()
    (workspace / "docs/plan.md").write_text("1. Fix it.\n")
    footprint = boundary.after("plan", phase)
    assert footprint is not None
    assert footprint.changes.paths == ("docs/plan.md",)
    assert footprint.after == scan(workspace)


@pytest.mark.parametrize(
    ("phase", "change"),
    [
        (Phase(may_change=("docs/**",)), lambda root: (root / "src/a.py").write_text("A = 2\n")),
        (Phase(may_change=("docs/**",)), lambda root: (root / "src/a.py").unlink()),
        (Phase(may_change=("docs/**",)), lambda root: (root / "src/new.py").symlink_to("a.py")),
        (Phase(may_change=("docs/**",)), lambda root: (root / "src/a.py").chmod(0o755)),
        (Phase(is_writable=False), lambda root: (root / "src/a.py").write_text("A = 2\n")),
        (Phase(is_writable=False, may_change=("**",)), lambda root: (root / "src/a.py").write_text("A = 2\n")),
        (Phase(may_not_change=("src/**",)), lambda root: (root / "src/a.py").write_text("A = 2\n")),
        (Phase(may_change=("**",), may_not_change=("src/**",)), lambda root: (root / "src/b.py").write_text("")),
    ],
)
def test_a_change_that_a_phase_may_not_make_is_its_fault_and_names_the_path(
    workspace: Path, phase: Phase, change: Callable[[Path], object]
) -> None:
    with pytest.raises(PhaseError, match=r"^implementation-evidence-invalid: session 'plan' changed .*src/"):
        around(workspace, phase, change)


def test_a_broken_boundary_is_a_fault_of_evidence_and_no_wrong_answer() -> None:
    fault = fault_of(PhaseError("plan-evidence-invalid", "plan", "changed what it may not: src/a.py"))
    assert fault.kind is FaultKind.EVIDENCE
    assert fault.detail == "plan-evidence-invalid: session 'plan' changed what it may not: src/a.py"


def test_what_an_unbounded_session_did_is_no_later_phases_change(workspace: Path) -> None:
    boundary, bounded = Boundary(workspace, go_on, scan(workspace)), Phase(may_change=())
    boundary.before("work", FREE)
    (workspace / "src/a.py").write_text("A = 2\n")
    assert boundary.after("work", FREE) is None
    boundary.before("review", bounded)
    footprint = boundary.after("review", bounded)
    assert footprint is not None
    assert footprint.changes.paths == ()


def test_what_lies_between_two_phases_is_the_next_ones_base(workspace: Path) -> None:
    boundary, phase = Boundary(workspace, go_on, scan(workspace)), Phase(may_change=("src/**",))
    for text in ("A = 2\n", "A = 3\n"):
        boundary.before("plan", phase)
        (workspace / "src/a.py").write_text(text)
        footprint = boundary.after("plan", phase)
        assert footprint is not None
        assert footprint.changes.changed == ("src/a.py",)


def test_a_right_answer_on_work_that_nobody_did_is_a_wrong_one(workspace: Path) -> None:
    before = scan(workspace)
    (workspace / "docs").mkdir()
    (workspace / "docs/plan.md").write_text("1. Fix it.\n")
    finding = held_to_work(RIGHT, before, scan(workspace), ("docs/*.md",))
    assert finding.correct is False
    assert finding.answer_error == "no-work-produced: nothing was changed but docs/*.md"
    assert finding.numbers == RIGHT.numbers


@pytest.mark.parametrize("beside", [None, ("docs/*.md",), ()])
def test_a_right_answer_on_work_stays_right(workspace: Path, beside: tuple[str, ...] | None) -> None:
    before = scan(workspace)
    (workspace / "src/a.py").write_text("A = 2\n")
    assert held_to_work(RIGHT, before, scan(workspace), beside) == RIGHT


def test_nobody_is_held_to_work_that_was_not_asked_for() -> None:
    nothing = Tree({})
    assert held_to_work(RIGHT, nothing, nothing, None) == RIGHT
    assert held_to_work(RIGHT, nothing, BrokenBound(TreeLimit.BYTES, "too large"), ()) == RIGHT
