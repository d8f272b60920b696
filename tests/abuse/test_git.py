"""G: what a guest leaves in its workspace for a git on the host: it runs nothing, and it hides nothing.

Each attack writes a program that leaves a marker. The controls run the attacks against a naive git, inside bubblewrap,
to show that they work.
"""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from worker.collect.patch import Difference, difference_of
from worker.trees.copying import Ownership, copy_tree
from worker.trees.git import commit_everything
from worker.trees.scan import changes_between, listing, scan

ENV = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "x",
    "GIT_AUTHOR_EMAIL": "x@x",
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@x",
}


@dataclass(frozen=True)
class Room:
    """A template, a guest's copy of it, and what would be there had the guest's program run."""

    template: Path
    ws: Path
    ran: Path

    @property
    def program(self) -> Path:
        """A program of the guest's, which passes its input on, as a filter does."""
        path = self.ws / "evil.sh"
        path.write_text(f"#!/bin/sh\ntouch {self.ran}\n[ $# -gt 0 ] || exec cat\n")
        path.chmod(0o755)
        return path

    def git(self, *arguments: str, place: str = "") -> None:
        where = self.ws / place
        subprocess.run(["git", "-C", where, *arguments], env=ENV, check=True, capture_output=True)

    def config(self, key: str, value: str, place: str = "") -> None:
        self.git("config", key, value, place=place)

    def difference(self) -> Difference:
        changes = changes_between(scan(self.template), scan(self.ws))
        return difference_of(self.template / ".git", self.ws, changes, self.ws.parent / "scratch")


@pytest.fixture
def room(tmp_path: Path) -> Room:
    template = tmp_path / "template"
    (template / "src").mkdir(parents=True)
    (template / "a.txt").write_text("one\n")
    (template / "src/b.txt").write_text("b\n")
    commit_everything(template)
    ws = tmp_path / "ws"
    copy_tree(template, listing(template), ws, Ownership(os.geteuid(), os.getegid()))
    return Room(template, ws, tmp_path / "ran")


def fsmonitor(room: Room) -> None:
    room.config("core.fsmonitor", str(room.program))


def hooks_path(room: Room) -> None:
    (room.ws / "hooks").mkdir()
    for name in ("pre-commit", "post-index-change", "post-commit"):
        shutil.copy(room.program, room.ws / "hooks" / name)
    room.config("core.hooksPath", "hooks")


def hooks(room: Room) -> None:
    (room.ws / ".git/hooks").mkdir()
    for name in ("pre-commit", "post-index-change", "post-commit"):
        shutil.copy(room.program, room.ws / ".git/hooks" / name)


def included_configuration(room: Room) -> None:
    (room.ws / "more").write_text(f"[core]\nfsmonitor = {room.program}\n")
    room.config("include.path", "../more")


def filter_clean(room: Room) -> None:
    room.config("filter.x.clean", str(room.program))
    (room.ws / ".gitattributes").write_text("* filter=x\n")


def filter_process(room: Room) -> None:
    room.config("filter.x.process", str(room.program))
    (room.ws / ".gitattributes").write_text("* filter=x\n")


def diff_external(room: Room) -> None:
    room.config("diff.external", str(room.program))


def textconv(room: Room) -> None:
    room.config("diff.x.textconv", f"{room.program} x; cat")
    (room.ws / ".gitattributes").write_text("*.txt diff=x\n")


def alias(room: Room) -> None:
    room.config("alias.st", f"!{room.program} x")


def ssh_command(room: Room) -> None:
    room.config("core.sshCommand", str(room.program))
    room.git("remote", "add", "origin", "ssh://nowhere.invalid/x")


def git_file(room: Room) -> None:
    fsmonitor(room)
    shutil.move(room.ws / ".git", room.ws / "elsewhere")
    (room.ws / ".git").write_text("gitdir: elsewhere\n")


def worktree_configuration(room: Room) -> None:
    room.config("extensions.worktreeConfig", "true")
    (room.ws / ".git/config.worktree").write_text(f"[core]\nfsmonitor = {room.program}\n")


def nested_repository(room: Room) -> None:
    room.git("init", "-q", "nested")
    (room.ws / "nested/file").write_text("in\n")
    room.git("add", "file", place="nested")
    room.git("commit", "-qm", "x", place="nested")
    room.config("core.fsmonitor", str(room.program), place="nested")


def nested_submodule(room: Room) -> None:
    nested_repository(room)
    room.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},nested")
    (room.ws / ".gitmodules").write_text('[submodule "nested"]\npath = nested\nurl = ./nested\n')


def bare_repository(room: Room) -> None:
    room.git("init", "-q", "--bare", "src/bare")
    room.config("core.bare", "false", place="src/bare")
    room.config("core.worktree", ".", place="src/bare")
    room.config("core.fsmonitor", str(room.program), place="src/bare")


def signing_program(room: Room) -> None:
    room.config("gpg.program", str(room.program))
    room.config("commit.gpgSign", "true")


def pager(room: Room) -> None:
    room.config("core.pager", str(room.program))


def merge_driver(room: Room) -> None:
    room.config("merge.x.driver", str(room.program))
    (room.ws / ".gitattributes").write_text("* merge=x\n")


def replaced_objects(room: Room) -> None:
    head = subprocess.check_output(["git", "-C", room.ws, "rev-parse", "HEAD"], env=ENV, text=True).strip()
    room.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "other")
    room.git("replace", head, "HEAD")


def alternates(room: Room) -> None:
    (room.ws / ".git/objects/info").mkdir(exist_ok=True)
    (room.ws / ".git/objects/info/alternates").write_text(f"{room.ws}/nowhere\n")


def same_size_and_time(room: Room) -> None:
    before = (room.ws / "a.txt").stat()
    (room.ws / "a.txt").write_text("two\n")
    os.utime(room.ws / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))


def assume_unchanged(room: Room) -> None:
    room.git("update-index", "--assume-unchanged", "a.txt")


def skip_worktree(room: Room) -> None:
    room.git("update-index", "--skip-worktree", "a.txt")


def info_exclude(room: Room) -> None:
    (room.ws / ".git/info").mkdir(exist_ok=True)
    (room.ws / ".git/info/exclude").write_text("*\n")


def ignore_file(room: Room) -> None:
    (room.ws / ".gitignore").write_text("*\n")


def moved_head(room: Room) -> None:
    (room.ws / "a.txt").write_text("two\n")
    (room.ws / "new.txt").write_text("new\n")
    room.git("add", "--all", "--force")
    room.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "moved")


def attributes_that_normalise(room: Room) -> None:
    (room.ws / ".gitattributes").write_text("* text=auto eol=lf ident -diff\n")


EXECUTES = [
    fsmonitor,
    hooks_path,
    hooks,
    included_configuration,
    filter_clean,
    filter_process,
    diff_external,
    textconv,
    alias,
    ssh_command,
    git_file,
    worktree_configuration,
    nested_submodule,
    bare_repository,
    signing_program,
]
HARMLESS = [pager, merge_driver, nested_repository, replaced_objects, alternates, same_size_and_time]
HIDES = [assume_unchanged, skip_worktree, info_exclude, ignore_file, filter_process, moved_head]
BEYOND = [attributes_that_normalise]
Attack = Callable[[Room], None]


def test_there_are_twenty_five_attacks_and_one_of_our_own() -> None:
    assert len({*EXECUTES, *HARMLESS, *HIDES}) == 26
    assert BEYOND


@pytest.mark.parametrize("attack", [*dict.fromkeys((*EXECUTES, *HARMLESS, *HIDES, *BEYOND))])
def test_nothing_runs_and_every_change_is_seen(room: Room, attack: Attack) -> None:
    attack(room)
    (room.ws / "a.txt").write_text("two\n")
    (room.ws / "new.txt").write_text("new\n")
    (room.ws / "src/b.txt").unlink()
    before = scan(room.template).digest
    found = room.difference()
    assert not room.ran.exists()
    assert found.patch is not None
    for seen in (b"\n-one\n+two\n", b"new.txt", b"\n+new\n", b"\n-b\n", b"deleted file mode"):
        assert seen in found.patch.body
    assert b"160000" not in found.patch.body
    assert found.churn.added_lines is not None
    assert scan(room.template).digest == before


def test_line_ends_that_attributes_would_hide_are_seen(room: Room) -> None:
    attributes_that_normalise(room)
    (room.ws / "a.txt").write_bytes(b"one\r\n")
    found = room.difference()
    assert found.patch is not None
    assert b"\n-one\n+one\r\n" in found.patch.body


@pytest.mark.parametrize("attack", [nested_repository, nested_submodule])
def test_an_embedded_repository_is_named_and_its_files_are_seen(room: Room, attack: Attack) -> None:
    attack(room)
    found = room.difference()
    assert found.churn.repositories == ("nested/.git",)
    assert found.patch is not None
    assert b"\n+in\n" in found.patch.body


def test_an_embedded_repository_by_a_file_or_in_capitals_is_named_too(room: Room) -> None:
    (room.ws / "src/.git").write_text("gitdir: ../.git\n")
    (room.ws / "up/.GIT").mkdir(parents=True)
    (room.ws / "up/.GIT/config").write_text("")
    assert room.difference().churn.repositories == ("src/.git", "up/.GIT")


NAIVE = """
git status; git diff; git add --all; git diff --cached; git commit -m x; git st; git fetch; git submodule status
cd src/bare 2>/dev/null && git status
true
"""


def run_naively(room: Room) -> bytes:
    """Do in a sandbox what must not be done on the host; return what the naive patch would have been."""
    root = room.ws.parent
    ran = subprocess.run(
        [
            *("bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind", "/usr", "/usr"),
            *("--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
            *("--proc", "/proc", "--dev", "/dev", "--bind", root, root, "--chdir", room.ws),
            *(word for name, value in ENV.items() for word in ("--setenv", name, value)),
            *("sh", "-c", NAIVE + "cd " + str(room.ws) + "; git show --no-color HEAD"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return ran.stdout


@pytest.mark.parametrize("attack", EXECUTES)
def test_n_a_naive_git_runs_the_guests_program(room: Room, attack: Attack) -> None:
    attack(room)
    (room.ws / "a.txt").write_text("two\n")
    run_naively(room)
    assert room.ran.exists()


@pytest.mark.parametrize("attack", [assume_unchanged, skip_worktree, info_exclude, ignore_file])
def test_n_a_naive_git_misses_a_change(room: Room, attack: Attack) -> None:
    attack(room)
    (room.ws / "a.txt").write_text("two\n")
    (room.ws / "new.txt").write_text("new\n")
    shown = run_naively(room)
    assert b"+two" not in shown or b"+new" not in shown


def test_the_attacks_program_leaves_its_mark(room: Room) -> None:
    assert room.program.stat().st_mode & stat.S_IXUSR
    subprocess.run([room.program, "x"], check=True, env=ENV)
    assert room.ran.exists()
