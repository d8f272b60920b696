"""Patches, made with a git that trusts nothing in the workspace."""

import os
import subprocess
from pathlib import Path
from tempfile import mkdtemp

import pytest

from farm.model import Churn
from worker.collect.patch import MOST_PATCH_BYTES, Difference, Patch, add_to, difference_of
from worker.trees.copying import Ownership, copy_tree
from worker.trees.git import commit_everything
from worker.trees.scan import changes_between, listing, scan


@pytest.fixture
def template(tmp_path: Path) -> Path:
    root = tmp_path / "template"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    (root / "b.bin").write_bytes(bytes(range(256)))
    commit_everything(root)
    return root


@pytest.fixture
def workspace(template: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "ws"
    copy_tree(template, listing(template), copy, Ownership(os.geteuid(), os.getegid()))
    return copy


def difference(template: Path, workspace: Path, *beside: str) -> Difference:
    changes = changes_between(scan(template), scan(workspace))
    scratch = Path(mkdtemp(dir=workspace.parent)) / "scratch"
    return difference_of(template / ".git", workspace, changes, scratch, beside)


def made(template: Path, workspace: Path) -> Patch | None:
    return difference(template, workspace).patch


def test_nothing_changed_makes_no_patch_and_starts_no_git(template: Path, workspace: Path) -> None:
    assert made(template, workspace) is None
    assert not [*workspace.parent.glob("**/scratch")]


def test_a_patch_rebuilds_the_workspace(template: Path, workspace: Path, tmp_path: Path) -> None:
    (workspace / "a.txt").write_text("two\n")
    (workspace / "b.bin").unlink()
    (workspace / "c d\te").write_bytes(b"\0new")
    (workspace / "run").write_text("#!/bin/sh\n")
    (workspace / "run").chmod(0o755)
    (workspace / "link").symlink_to("a.txt")
    (workspace / "Sub").mkdir()
    (workspace / "Sub/.gitignore").write_text("*\n")
    patch = made(template, workspace)
    assert patch is not None
    again = tmp_path / "again"
    copy_tree(template, listing(template), again, Ownership(os.geteuid(), os.getegid()))
    subprocess.run(["git", "apply", "-"], input=patch.body, cwd=again, check=True)
    assert scan(again).digest == scan(workspace).digest


def test_nothing_that_the_workspace_asks_git_to_run_is_run(template: Path, workspace: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    command = f"touch {ran}; cat"
    config = f'[core]\nfsmonitor = "{command}"\n[filter "x"]\nclean = "{command}"\nprocess = "{command}"\n'
    config += f'[diff "x"]\ntextconv = "{command}"\ncommand = "{command}"\n[diff]\nexternal = "{command}"\n'
    (workspace / ".git/config").write_text(config)
    (workspace / ".gitattributes").write_text("* filter=x diff=x\n")
    (workspace / "a.txt").write_text("two\n")
    (workspace / "nested/.git").mkdir(parents=True)
    (workspace / "nested/.git/config").write_text(config)
    (workspace / "nested/file").write_text("seen\n")
    before = scan(template).digest
    patch = made(template, workspace)
    assert patch is not None
    assert b"+two" in patch.body
    assert b"+seen" in patch.body
    assert not ran.exists()
    assert scan(template).digest == before


def test_the_templates_repository_is_left_as_it_was(template: Path, workspace: Path) -> None:
    files = {path: path.stat().st_mtime_ns for path in (template / ".git").rglob("*")}
    (workspace / "a.txt").write_text("two\n")
    made(template, workspace)
    assert {path: path.stat().st_mtime_ns for path in (template / ".git").rglob("*")} == files


def test_what_is_too_large_is_left_out(template: Path, workspace: Path) -> None:
    with (workspace / "huge").open("wb") as file:
        file.truncate(1 << 30)
    os.mkfifo(workspace / "pipe")
    (workspace / "a.txt").write_text("two\n")
    patch = made(template, workspace)
    assert patch is not None
    assert b"huge" not in patch.body
    assert b"+two" in patch.body


def test_what_a_base_could_not_take_is_named(template: Path, workspace: Path, tmp_path: Path) -> None:
    with (workspace / "huge").open("wb") as file:
        file.truncate(1 << 24)
    (workspace / "a.txt").write_text("two\n")
    changes = changes_between(scan(template), scan(workspace))
    assert add_to(template / ".git", workspace, changes, tmp_path / "more") == {"huge"}


def test_churn_counts_files_lines_and_binary_files(template: Path, workspace: Path) -> None:
    (workspace / "a.txt").write_text("two\nthree\n")
    (workspace / "b.bin").write_bytes(b"\0")
    (workspace / "sub").mkdir()
    (workspace / "sub/link").symlink_to("../a.txt")
    churn = difference(template, workspace).churn.counts
    assert churn == Churn(files=3, added_lines=3, removed_lines=1, binary_files=1)


@pytest.mark.parametrize("plan", ["docs/plans/fix.md", "docs/plans/\u00fc\n.md"])
def test_what_is_no_work_is_in_the_patch_and_not_counted(template: Path, workspace: Path, plan: str) -> None:
    (workspace / "a.txt").write_text("two\n")
    alone = difference(template, workspace)
    (workspace / "docs/plans").mkdir(parents=True)
    (workspace / plan).write_text("1. Fix it.\n2. Test it.\n")
    found = difference(template, workspace, "docs/plans/*.md")
    assert found.patch is not None
    assert b"+2. Test it." in found.patch.body
    assert found.churn == alone.churn
    assert difference(template, workspace).churn != alone.churn


def test_a_plan_alone_is_a_churn_of_zero(template: Path, workspace: Path) -> None:
    (workspace / "plan.md").write_text("1. Fix it.\n")
    assert difference(template, workspace, "*.md").churn == Churn(
        files=0, added_lines=0, removed_lines=0, binary_files=0
    )


def test_a_fingerprint_is_of_how_the_changed_files_were_left(template: Path, workspace: Path) -> None:
    def left() -> str | None:
        return difference(template, workspace).churn.fingerprint

    (workspace / "a.txt").write_text("two\n")
    first = left()
    assert first is not None
    (workspace / "b.bin").unlink()
    second = left()
    (workspace / "a.txt").chmod(0o755)
    third = left()
    assert len({first, second, third}) == 3
    (workspace / "a.txt").chmod(0o644)
    assert left() == second


def test_no_change_is_a_churn_of_zero(template: Path, workspace: Path) -> None:
    assert difference(template, workspace).churn == Churn(files=0, added_lines=0, removed_lines=0, binary_files=0)


def test_lines_that_nobody_could_count_are_unknown(template: Path, workspace: Path) -> None:
    (workspace / "a.txt").write_text("two\n")
    with (workspace / "huge").open("wb") as file:
        file.truncate(1 << 30)
    churn = difference(template, workspace).churn
    assert churn == Churn(files=2, added_lines=None, removed_lines=None, binary_files=None)


@pytest.mark.parametrize(
    "name", ["git~1", 'a"b', "a\\b", "new\nline", " lead", "-rf", "ü", os.fsdecode(b"\xff"), "D x", "x" * 255]
)
def test_any_name_has_its_place_in_the_patch(template: Path, workspace: Path, name: str) -> None:
    (workspace / name).write_text("seen\n")
    found = difference(template, workspace)
    assert found.patch is not None
    assert b"+seen" in found.patch.body
    assert found.churn.counts == Churn(files=1, added_lines=1, removed_lines=0, binary_files=0)


def test_a_file_and_a_folder_may_change_places(template: Path, workspace: Path) -> None:
    (workspace / "a.txt").unlink()
    (workspace / "a.txt").mkdir()
    (workspace / "a.txt/b").write_text("in\n")
    patch = made(template, workspace)
    assert patch is not None
    assert b"a.txt/b" in patch.body
    assert b"-one" in patch.body


def test_a_patch_over_its_cap_is_cut_and_says_so(template: Path, workspace: Path) -> None:
    for number in range(5):
        (workspace / f"{number}").write_bytes(os.urandom(5 << 20))
    patch = made(template, workspace)
    assert patch is not None
    assert patch.truncated
    assert len(patch.body) == MOST_PATCH_BYTES
