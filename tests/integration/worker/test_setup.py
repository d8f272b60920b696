"""A task's setup, in a real sandbox: what it changes is nobody's change, and what it breaks is the task's fault."""

from typing import Any

import pytest

from farm.model import Churn, CopiedAsset, Digest, FaultKind, Outcome, Overlay, ResultStatus, Scope, Setup, SetupLimits
from tests.builders.worker.farm import Farm, a_tar, says
from tests.builders.worker.working import Make, Run


def shell(line: str, copies: tuple[CopiedAsset, ...] = (), **changes: Any) -> dict[str, Any]:
    return {"setup": Setup(argv=("sh", "-c", line), **changes), "copies": copies}


def fault_of(outcome: Outcome) -> tuple[FaultKind, str]:
    assert outcome.fault is not None, outcome.evidence
    return outcome.fault.kind, outcome.fault.detail


def test_what_a_setup_changes_is_there_for_the_session_and_no_change_of_its(farm: Make, run: Run) -> None:
    cell = farm(
        {"run": {"command": "grep -q ready state && echo C=3 >>src/a.py && echo more >>state", "must_succeed": True}},
        task=shell("echo ready >state && rm README.md && echo B=3 >src/b.py"),
        scope=Scope(allowed=("src/a.py", "state")),
        oracle=says("test ! -e README.md && grep -q B=3 src/b.py && grep -q more state"),
    )
    run(cell)
    outcome = cell.outcome()
    assert outcome.evidence is not None, outcome.fault
    assert outcome.evidence.oracle.correct is True
    assert outcome.evidence.scope.is_kept
    assert outcome.evidence.churn is not None
    assert outcome.evidence.churn.counts == Churn(files=2, added_lines=2, removed_lines=0, binary_files=0)
    patch = cell.artifact("patch")
    assert b"+C=3" in patch
    assert b" ready\n+more" in patch
    assert b"README" not in patch
    assert b"B=3" not in patch
    assert "setup" in {stage.stage for stage in outcome.stages}


def test_a_session_that_changes_nothing_after_a_setup_ends_where_it_began(farm: Make, run: Run) -> None:
    cell = farm(task=shell("echo ready >state"))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.workspace_before == evidence.workspace_after
    assert "patch" not in {artifact.role for artifact in cell.outcome().artifacts}


def test_a_setup_that_fails_is_the_tasks_fault_and_no_session_runs(farm: Make, run: Run) -> None:
    cell = farm(task=shell("echo installing; echo no such package >&2; exit 3"))
    run(cell)
    outcome, result = cell.outcome(), cell.result()
    assert fault_of(outcome) == (FaultKind.TASK, "the setup ended with code 3: no such package")
    assert cell.artifact("setup.stdout") == b"installing\n"
    assert "sessions" not in {stage.stage for stage in outcome.stages}
    assert result is not None
    assert result.status is ResultStatus.EXCLUDED
    assert cell.leftovers() == []


def test_lines_of_what_was_too_large_when_it_was_set_up_are_unknown(farm: Make, run: Run) -> None:
    edits = {"run": {"command": "echo short >large", "must_succeed": True}}
    cell = farm(edits, task=shell("seq 2000000 >large"))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.churn is not None
    assert (evidence.churn.files, evidence.churn.added_lines, evidence.churn.removed_lines) == (1, None, None)


def test_case_34_a_setup_that_fails_with_nothing_on_stderr_is_told_by_the_end_of_its_output(
    farm: Make, run: Run
) -> None:
    cell = farm(task=shell("echo begun; echo and lost; exit 1"))
    run(cell)
    assert fault_of(cell.outcome())[1] == "the setup ended with code 1: begun and lost"


def test_a_setup_that_takes_too_long_is_the_tasks_fault(farm: Make, run: Run) -> None:
    cell = farm(task=shell("sleep 60", limits=SetupLimits(wall_s=0.3)))
    run(cell)
    assert fault_of(cell.outcome()) == (FaultKind.TASK, "the setup reached its limit of wall and said nothing")


def test_a_setup_has_its_environment_and_no_network(farm: Make, run: Run) -> None:
    script = "import os,socket; s=socket.socket(); s.settimeout(3); e=s.connect_ex(('1.1.1.1', 53)); assert e, e"
    cell = farm(
        task=shell(f'echo "$KIND" >kind && test ! -e /run/model.sock && python3 -c "{script}"', env={"KIND": "full"}),
        oracle=says("grep -q full kind"),
    )
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.oracle.correct is True


def test_case_10_a_setup_that_changes_an_overlaid_file_fails_the_cell_before_any_session(farm: Make, run: Run) -> None:
    assert changing_the_overlay(farm, run, "echo other >>skills/fix.md") == (
        FaultKind.TASK,
        "the setup changed 'skills/fix.md', which an arm's overlay brings; let it leave that file alone",
    )


def test_a_setup_that_removes_an_overlaid_file_fails_the_cell_before_any_session(farm: Make, run: Run) -> None:
    assert changing_the_overlay(farm, run, "rm -r skills")[0] is FaultKind.TASK


def changing_the_overlay(farm: Make, run: Run, line: str) -> tuple[FaultKind, str]:
    cell: Farm = farm(task=shell(line))
    body = cell.blobs.put(a_tar({"skills/fix.md": "How to fix.\n"}))
    cell = farm(task=shell(line), overlay=Overlay(files=body, boundary=("skills/**",)), store=cell.store)
    run(cell)
    return fault_of(cell.outcome())


def test_a_setup_that_leaves_a_hidden_file_fails_the_cell_before_any_session(farm: Make, run: Run) -> None:
    cell = farm(task=shell("echo the answer >tests.txt"), hidden={"check.txt": "the answer\n"})
    run(cell)
    kind, detail = fault_of(cell.outcome())
    assert kind is FaultKind.TASK
    assert "'tests.txt', which is one of the oracle's hidden files" in detail


PATCH = """\
--- a/src/a.py
+++ b/src/a.py
@@ -1 +1 @@
-A = 1
+A = 9
--- /dev/null
+++ b/eval/bench/answers
@@ -0,0 +1 @@
+nine
"""


@pytest.mark.parametrize("leaves_out", [True, False])
def test_case_24_a_patch_that_touches_what_is_hidden_leaves_that_out_or_fails(
    farm: Make, run: Run, *, leaves_out: bool
) -> None:
    store = farm().store
    copies = (CopiedAsset(files=store.blobs.put(a_tar({"fix.patch": PATCH})), target="fix.patch"),)
    line = f"git apply {'--exclude=eval/bench/*' if leaves_out else ''} fix.patch"
    cell = farm(store=store, task=shell(line, copies=copies), oracle=says("grep -q 9 src/a.py && ! test -e eval"))
    (task,) = cell.plan.tasks
    snapshot = task.snapshot.model_copy(update={"hidden": ("eval/bench/**",)})
    task = task.model_copy(update={"snapshot": snapshot})
    cell = farm(store=store, plan_extra={"tasks": (task,)})
    run(cell)
    if leaves_out:
        evidence = cell.outcome().evidence
        assert evidence is not None, cell.outcome().fault
        assert evidence.oracle.correct is True
    else:
        kind, detail = fault_of(cell.outcome())
        assert kind is FaultKind.TASK
        assert "the setup left 'eval/bench/answers', which the task's repository hides" in detail


def test_a_setup_is_a_part_of_what_determines_a_measurement(farm: Make) -> None:
    plain, other = farm(task=shell("true")).plan, farm(task=shell("false")).plan
    locks: set[Digest] = {plan.lock(plan.cells[0]) for plan in (plain, other, farm().plan)}
    assert len(locks) == 3
