"""Every way to a workspace that this machine offers gives the same workspace, and none of them gives another's away."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from farm.model import Churn
from sandbox.errors import SandboxUnhealthyError
from sandbox.spec import Exit, SandboxSpec, Sink
from tests.builders.disks import mounts
from tests.builders.worker.copies import FILES, Slot, a_slot, state, ways
from tests.builders.worker.doubles import HookedSandbox
from worker.collect.patch import difference_of
from worker.staging.copies import Copies, copy_again
from worker.staging.copy_trial import Trial
from worker.staging.ground import CellFolder, clear_leftovers
from worker.staging.using import drop_one
from worker.trees.removing import remove_tree
from worker.trees.scan import GIT_FOLDER, changes_between, go_on, scan

GIT = """
import subprocess
env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"} | {
    f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
def git(*words):
    return subprocess.run(("git", *words), check=True, env=env, capture_output=True, text=True).stdout
"""
COMMITS = f"""{GIT}
open("src/a.py", "a").write("x")
git("checkout", "-qb", "mine")
git("commit", "-qam", "m")
git("gc", "-q")
"""
DEEDS = {
    "nothing": "pass",
    "files": """
import os
open("src/a.py", "a").write("more")
os.truncate("run.sh", 0)
open("new", "w").write("n")
with open("large", "r+b") as large:
    large.seek(70000)
    large.write(b"yyy")
open("other", "w").write("other")
os.replace("other", "src/deep/b.py")
os.link("large", "hard")
open("hard", "a").write("x")
os.symlink("/etc/passwd", "soft")
os.unlink("many/000/file.txt")
os.symlink("../../..", "many/000/file.txt")
open("sparse", "w").close()
os.truncate("sparse", 5 * 2**20)
os.setxattr("many", "user.overlay.opaque", b"y")
os.setxattr("many/001", "user.overlay.whiteout", b"")
""",
    "folders": """
import os, shutil
shutil.rmtree("src")
os.mkdir("src")
open("src/a.py", "w").write("mine")
os.unlink("run.sh")
os.mkdir("run.sh")
open("run.sh/x", "w").write("x")
shutil.rmtree("many/000")
open("many/000", "w").write("x")
os.rename("many/001/file.txt", "many/002/file.txt")
os.rename("many/003", "moved")
os.mkdir("many/003")
""",
    "a folder that is renamed twice": """
import os
os.rename("many", "m")
os.rename("m/003", "many")
open("many/file.txt", "a").write("x")
""",
    "what a copy opens or leaves out": """
import os
os.chmod("src/a.py", 0o4755)
os.chmod("run.sh", 0)
os.chmod("many", 0o500)
os.utime("large", (1, 1))
os.mkfifo("pipe")
os.chmod("src/deep", 0)
""",
    "commits": COMMITS,
    "no repository": "import shutil; shutil.rmtree('.git')",
}
CHANGES = "import os; open('src/a.py', 'w').write('x'); open('new', 'w').close(); os.rename('many', 'm')"


@dataclass(frozen=True)
class Seen:
    """All that is told of a workspace to whoever judges it."""

    tree: str
    patch: bytes
    churn: Churn
    again: str


def seen(slot: Slot, folder: CellFolder) -> Seen:
    template, scratch = slot.template(), folder.scratch()
    left = scan(folder.workspace)
    found = difference_of(template.path / GIT_FOLDER, folder.workspace, changes_between(template.tree, left), scratch)
    remove_tree(scratch)
    copy = copy_again(folder, go_on)
    again = scan(copy).digest
    folder.remove_copy(copy)
    return Seen(left.digest, found.patch.body if found.patch else b"", found.churn, again)


@pytest.fixture(scope="module", params=ways())
def slot(request: pytest.FixtureRequest) -> Iterator[Slot]:
    with a_slot(request.param) as made:
        yield made
    assert mounts(made.root) == []


@pytest.fixture(scope="module")
def plain() -> Iterator[Callable[[str], Seen]]:
    """Give what is seen after a deed in a plain copy."""
    with a_slot("copy") as slot:

        @cache
        def done(deed: str) -> Seen:
            folder = slot.cell()
            slot.run(folder, DEEDS[deed])
            return seen(slot, folder)

        yield done


@pytest.mark.parametrize("deed", DEEDS)
def test_a_guests_deed_looks_the_same_in_every_way_and_reaches_nobody_else(
    slot: Slot, plain: Callable[[str], Seen], deed: str
) -> None:
    template = slot.template().path
    before = state(template)
    mine, others = slot.cell(), slot.cell()
    slot.run(mine, DEEDS[deed])
    assert seen(slot, mine) == plain(deed)
    assert state(template) == before
    assert scan(others.workspace).digest == slot.template().tree.digest
    assert state(others.workspace / GIT_FOLDER).keys() == state(template / GIT_FOLDER).keys()
    for folder in (mine, others):
        folder.remove()
        slot.folders.remove(folder)


def test_case_1_a_branch_and_objects_that_one_arm_leaves_are_seen_by_no_other(slot: Slot) -> None:
    mine = slot.cell()
    slot.run(mine, COMMITS + "git('stash'); git('tag', 'done'); git('hash-object', '-w', 'large')")
    others = slot.cell()
    told = slot.run(others, GIT + "print(git('for-each-ref'), git('stash','list'), git('count-objects'), git('fsck'))")
    assert [line.split()[-1] for line in told.splitlines() if "refs/" in line] == ["refs/heads/main"]
    assert "0 objects" in told
    assert (
        slot.run(others, GIT + "print(git('log','--all','--oneline').count('\\n'), repr(git('status','-s')))")
        == "1 ''\n"
    )


def test_case_3_a_session_finds_one_commit_without_a_parent_and_no_way_to_another(slot: Slot) -> None:
    asked = """
import os
print(git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split().count("commit"))
print(git("rev-list", "--all", "--parents", "--count").strip(), len(git("log", "-1", "--format=%P").strip()))
print([git(*words.split()) for words in ("reflog --all", "stash list", "remote", "tag", "fsck --unreachable")])
print([name for name in ("logs", "objects/info/alternates", "worktrees", "modules") if os.path.exists(f".git/{name}")])
"""
    told = [slot.run(slot.cell(), f"{GIT}{asked}print(git('rev-parse', 'HEAD'))") for _ in range(2)]
    assert told[0].splitlines()[:4] == ["1", "1 0", "['', '', '', '', '']", "[]"]
    assert told[0] == told[1]


def test_all_of_a_workspace_belongs_to_its_slot(slot: Slot) -> None:
    folder = slot.cell()
    found = [path.lstat() for path in (folder.workspace, *folder.workspace.rglob("*"))]
    assert {(one.st_uid, one.st_gid) for one in found} == {(slot.owner.uid, slot.owner.gid)}


def test_what_a_check_does_to_its_copy_is_not_seen_in_the_workspace(slot: Slot) -> None:
    folder = slot.cell()
    slot.run(folder, CHANGES)
    left = scan(folder.workspace)
    copy = copy_again(folder, go_on)
    assert scan(copy).digest == left.digest
    slot.run(folder, "import os; open('src/a.py', 'w').write('y'); os.unlink('new'); os.rename('m', 'n')", copy)
    assert scan(folder.workspace).digest == left.digest
    folder.remove_copy(copy)
    assert scan(folder.workspace).digest == left.digest


def test_a_template_that_is_in_use_is_not_dropped_and_one_that_is_not_is(slot: Slot) -> None:
    slot.cell()
    assert not drop_one(slot.ground.templates)
    assert (slot.folders[-1].workspace / "src/a.py").read_text() == FILES["src/a.py"]


def test_nothing_of_a_cell_stays_when_its_folder_is_removed(slot: Slot) -> None:
    slot.cell()  # the first one makes ready what stays
    before = (mounts(slot.root), sorted(slot.root.glob("*/*/*")))
    folder = slot.cell()
    slot.run(folder, CHANGES)
    copy_again(folder, go_on)
    slot.folders.remove(folder)
    folder.remove()
    assert (mounts(slot.root), sorted(slot.root.glob("*/*/*"))) == before


@pytest.mark.parametrize("way", ways())
def test_what_a_dead_worker_left_is_unmounted_and_removed(way: str) -> None:
    with a_slot(way) as slot:
        folder = slot.cell()
        slot.run(folder, CHANGES)
        copy_again(folder, go_on)
        area: Path = slot.ground.drafts
        slot.ground._held.close()
        assert clear_leftovers(slot.root, lambda _: lambda _: None) == 1
        assert [point for point in mounts(slot.root) if point != str(slot.root)] == []
        assert not area.exists()
        folder.overlays.clear()
        folder.disks.clear()
        slot.folders.clear()
        slot.ground = type(slot.ground)(slot.root)


class Undead(HookedSandbox):
    """A sandbox whose guest does not die."""

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        del spec, sink, stop
        raise SandboxUnhealthyError("a guest is not dead 5 s after SIGKILL")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount an overlay")
def test_a_guest_of_the_trial_that_does_not_die_is_told_as_any_other() -> None:
    with a_slot("overlay") as slot:
        sandbox = Undead(slot.sandbox, lambda *_: None)
        slot.copies = Copies(slot.ground.find_overlays, sandbox.close, Trial(sandbox, 0))
        with pytest.raises(SandboxUnhealthyError):
            slot.cell()
