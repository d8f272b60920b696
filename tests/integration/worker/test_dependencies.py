"""A task's dependencies and copies, in a real sandbox: there for everybody, changed by nobody."""

from collections.abc import Mapping
from typing import Any

import pytest

from farm.model import Churn, Command, CopiedAsset, Dependency, FaultKind, Overlay, Setup
from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import Farm, a_tar, says
from tests.builders.worker.working import Make, Run

PACKAGE: Mapping[str, str] = {"left/index.js": "module.exports = 7\n", "bin/tool": "#!/bin/sh\necho a tool\n"}
SEEN = "test $(cat app/node_modules/left/index.js | wc -c) = 19 && test $(app/node_modules/bin/tool | wc -c) = 7"
COUNTS = "git status --porcelain >/tmp/told && wc -l </tmp/told >count"


@pytest.fixture
def bringing(farm: Make) -> Make:
    """A farm whose task brings a dependency at app/node_modules."""

    def make(*script: dict[str, Any], **changes: Any) -> Farm:
        store = farm().store
        files = store.blobs.put(a_tar(PACKAGE))
        task = {"dependencies": (Dependency(files=files, target="app/node_modules"),), **changes.pop("task", {})}
        return farm(*script, store=store, task=task, **changes)

    return make


def test_a_dependency_is_there_for_setup_session_verify_and_oracle_and_no_change(bringing: Make, run: Run) -> None:
    cell = bringing(
        {
            "run": {
                "command": f"{SEEN} && {COUNTS}",
                "must_succeed": True,
            }
        },
        task={"setup": Setup(argv=("sh", "-c", SEEN)), "verify": Command(argv=("sh", "-c", SEEN))},
        oracle=says(f"{SEEN} && test $(cat count) = 0"),
    )
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.verify is not None
    assert evidence.verify.exit.is_zero
    assert evidence.oracle.correct is True
    assert evidence.churn is not None
    assert evidence.churn.counts == Churn(files=1, added_lines=1, removed_lines=0, binary_files=0)


def test_nobody_in_a_sandbox_can_write_into_a_dependency(bringing: Make, run: Run) -> None:
    tries = "! echo x >app/node_modules/left/index.js && ! rm app/node_modules/bin/tool && ! mkdir app/node_modules/new"
    cell = bringing({"run": {"command": tries, "must_succeed": True}}, oracle=says(f"{tries} && {SEEN}"))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.oracle.correct is True


def test_case_21_a_cache_in_a_dependency_is_empty_and_writable_and_nothing_else_is(farm: Make, run: Run) -> None:
    store = farm().store
    files = store.blobs.put(a_tar({**PACKAGE, ".vite-temp/old": "old\n"}))
    modules = Dependency(files=files, target="node_modules", scratch=(".vite-temp",))
    cache = "node_modules/.vite-temp"
    line = f"test $(ls {cache} | wc -l) = 0 && echo 1 >{cache}/x && ! echo 1 >node_modules/y"
    cell = farm(
        {"run": {"command": line, "must_succeed": True}},
        {"tool_run": {"command": f"{line} && echo 1 >tool"}},
        store=store,
        task={"dependencies": (modules,)},
        oracle=says(f"{line} && test -e tool"),
    )
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.oracle.correct is True
    assert evidence.churn is not None
    assert evidence.churn.counts == Churn(files=1, added_lines=1, removed_lines=0, binary_files=0)


@pytest.mark.parametrize(
    "line",
    [
        "rm app/node_modules",
        "rm app/node_modules && mkdir -p app/node_modules/left && echo 8 >app/node_modules/left/index.js",
        "ln -sfn /tmp app/node_modules",
        "mv app elsewhere",
    ],
)
def test_a_session_that_changes_the_link_to_a_dependency_leaves_no_evidence(
    bringing: Make, run: Run, line: str
) -> None:
    cell = bringing({"run": {"command": line, "must_succeed": True}})
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.EVIDENCE
    assert fault.detail.startswith("the sessions changed 'app/node_modules', the link to a dependency")


def test_a_dependency_that_was_changed_on_the_host_leaves_no_evidence(bringing: Make, run: Run) -> None:
    cell = bringing(agent=None)

    def tamper(number: int, _: object) -> None:
        if number == 1:
            for path in cell.root.glob("dependencies/*/left/index.js"):
                path.write_text("module.exports = 8\n")

    cell.sandbox = HookedSandbox(cell.sandbox, tamper)
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.EVIDENCE
    assert fault.detail.startswith("the dependency at 'app/node_modules' changed while the sessions ran")
    for path in cell.root.glob("dependencies/*/left/index.js"):  # other tests find it on this host
        path.write_text("module.exports = 7\n")


def test_a_setup_that_changes_the_link_to_a_dependency_is_the_tasks_fault(bringing: Make, run: Run) -> None:
    cell = bringing(task={"setup": Setup(argv=("sh", "-c", "rm app/node_modules"))})
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.TASK
    assert "the setup changed 'app/node_modules', the link to a dependency" in fault.detail


def test_an_overlay_writes_nothing_through_the_link_to_a_dependency(bringing: Make, run: Run) -> None:
    store = bringing().store
    files = store.blobs.put(a_tar({"app/node_modules/left/index.js": "planted\n"}))
    cell = bringing(overlay=Overlay(files=files, boundary=("**",)))
    cell.store.blobs.put(store.blobs.get(files))
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.TASK
    assert "which is no folder in the workspace" in fault.detail


def test_copies_are_in_the_workspace_and_no_change(farm: Make, run: Run) -> None:
    store = farm().store
    tree, one = store.blobs.put(a_tar({"data/a/b.txt": "b\n"})), store.blobs.put(a_tar({"src/fix.patch": "p\n"}))
    copies = (CopiedAsset(files=tree, target="data"), CopiedAsset(files=one, target="src/fix.patch"))
    line = f"{COUNTS} && echo c >>data/a/b.txt"
    cell = farm(
        {"run": {"command": line, "must_succeed": True}},
        store=store,
        task={"copies": copies},
        oracle=says("test $(cat count) = 0 && grep -q b data/a/b.txt && grep -q p src/fix.patch"),
    )
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.oracle.correct is True
    assert evidence.churn is not None
    assert evidence.churn.counts == Churn(files=2, added_lines=2, removed_lines=0, binary_files=0)


@pytest.mark.parametrize(
    ("files", "target", "said"),
    [
        ({"README.md": "mine\n"}, "README.md", "'README.md' is in the workspace already"),
        ({"src/a.py/x": "x\n"}, "src/a.py/x", "below 'a.py', which is no folder"),
        ({"data/x": "x\n", "other": "y\n"}, "data", "hold 'other', which is not there"),
    ],
)
def test_copies_that_have_no_place_are_the_tasks_fault(
    farm: Make, run: Run, files: dict[str, str], target: str, said: str
) -> None:
    store = farm().store
    copies = (CopiedAsset(files=store.blobs.put(a_tar(files)), target=target),)
    cell = farm(store=store, task={"copies": copies})
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.TASK
    assert said in fault.detail
