"""G and F9: what of a task's past and of the farm a session can find, and what a plain clone would have told it."""

import os
import subprocess
from pathlib import Path

import pytest

from farm.model import OracleSpec, RepositorySpec
from farm.planning.repository import pack_repository
from sandbox.spec import Sandbox
from tests.builders.sandbox_rooms import bubblewrap, work_root
from tests.builders.worker.farm import Farm
from worker.tasks import carry
from worker.trees.archive import unpack
from worker.trees.git import commit_everything

SECRET = "the-answer-that-was-committed-once"  # noqa: S105 (a word to look for)


def git(place: Path, *words: str, feed: str | None = None) -> str:
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *who, "-C", str(place), *words],
        input=feed,
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
        env=env,
    )
    return done.stdout


def objects(place: Path) -> str:
    """Every object of a repository, reachable or not, as text."""
    names = git(place, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return git(place, "cat-file", "--batch", feed=names)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository whose past holds a secret, in every place where git keeps a past."""
    place = tmp_path / "source"
    place.mkdir()
    git(place, "init", "--quiet", "--initial-branch=main")
    for text in (SECRET, "nothing"):
        (place / "a").write_text(text)
        git(place, "add", "a")
        git(place, "commit", "--quiet", "--message", f"made {text}")
    git(place, "tag", "-a", "v1", "-m", SECRET)
    git(place, "notes", "add", "-m", SECRET)
    git(place, "branch", "fix", "HEAD~1")
    (place / "a").write_text(f"stashed {SECRET}")
    git(place, "stash", "--quiet")
    return place


def clone(source: Path, *options: str) -> Path:
    place = source.with_name("clone")
    git(source, "clone", "--quiet", *options, source.as_uri(), str(place))
    return place


def test_g1n_a_plain_clone_gives_the_secret_back(source: Path) -> None:
    assert SECRET in objects(clone(source))


def test_g2n_a_shallow_clone_keeps_refs_and_logs(source: Path) -> None:
    shallow = clone(source, "--depth", "1")
    assert len(git(shallow, "for-each-ref").splitlines()) > 1
    assert git(shallow, "reflog", "--all") != ""


def test_g3n_an_orphan_commit_alone_gives_the_secret_back(source: Path) -> None:
    place = clone(source)
    git(place, "checkout", "--quiet", "--orphan", "alone")
    git(place, "commit", "--quiet", "--message", "alone")
    assert SECRET in objects(place)


@pytest.fixture
def workspace(source: Path, tmp_path: Path) -> Path:
    """The same source, as a session gets it."""
    packed, place = tmp_path / "packed.tar", tmp_path / "workspace"
    place.mkdir()
    pack_repository(RepositorySpec(path=str(source), ref="main"), tmp_path, packed)
    unpack(packed.read_bytes(), place)
    commit_everything(place)
    return place


def test_g4_g5_nothing_of_the_past_is_in_a_workspace(workspace: Path) -> None:
    assert SECRET not in objects(workspace)
    assert git(workspace, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    assert git(workspace, "rev-list", "--all", "--count").strip() == "1"
    assert git(workspace, "reflog", "--all") == ""
    assert git(workspace, "fsck", "--unreachable", "--dangling", "--no-reflogs") == ""


def test_g4_case_3_the_original_commit_and_what_is_hidden_cannot_be_read(source: Path, tmp_path: Path) -> None:
    (source / "hidden").mkdir()
    (source / "hidden" / "test.py").write_text(SECRET)
    git(source, "add", "-A")
    git(source, "commit", "--quiet", "--message", "a hidden test")
    names = ("main", "main^{tree}", "main:hidden", "main:hidden/test.py")
    gone = [git(source, "rev-parse", name).strip() for name in names]
    packed, place = tmp_path / "packed.tar", tmp_path / "workspace"
    place.mkdir()
    spec = RepositorySpec(path=str(source), ref="main", hidden=("hidden/**",))
    pack_repository(spec, tmp_path, packed)
    unpack(packed.read_bytes(), place)
    commit_everything(place)
    assert SECRET not in objects(place)
    there = git(place, "cat-file", "--batch-check", feed="\n".join(gone))
    assert there.splitlines() == [f"{name} missing" for name in gone]
    assert not (place / "hidden").exists()
    for name in ("logs", "objects/info", "worktrees", "shallow", "FETCH_HEAD", "ORIG_HEAD"):
        assert not (place / ".git" / name).exists()


def test_the_commit_of_a_workspace_depends_on_its_files_alone(source: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.tar"
    pack_repository(RepositorySpec(path=str(source), ref="main"), tmp_path, packed)
    found = set()
    for mask, name in ((0o022, "one"), (0o077, "two")):
        place = tmp_path / name
        place.mkdir()
        before = os.umask(mask)
        try:
            unpack(packed.read_bytes(), place)
            commit_everything(place)
        finally:
            os.umask(before)
        found.add(git(place, "rev-parse", "HEAD"))
    assert len(found) == 1


def test_g6_what_a_workspaces_repository_says_is_constant(workspace: Path) -> None:
    told = git(workspace, "log", "--format=%an|%ae|%aI|%cn|%ce|%cI|%B")
    who = "workspace|workspace@localhost|2000-01-01T00:00:00"
    assert told.replace("Z|", "+00:00|").strip() == f"{who}+00:00|{who}+00:00|workspace"
    everything = b"".join(path.read_bytes() for path in (workspace / ".git").rglob("*") if path.is_file())
    for word in (b"Ada", b"example.org", b"source", str(workspace).encode(), b"worktree ="):
        assert word not in everything


def test_g6_no_other_file_than_the_snapshots_is_in_a_workspace(workspace: Path) -> None:
    assert sorted(path.name for path in workspace.iterdir()) == [".git", "a"]
    kept = {path.name for path in (workspace / ".git").iterdir()}
    assert kept == {"HEAD", "config", "index", "objects", "packed-refs", "refs"}
    refs = (workspace / ".git" / "packed-refs").read_text().splitlines()
    assert [line.split()[1] for line in refs if not line.startswith("#")] == ["refs/heads/main"]


def _mounts_of_a_session(place: Path, sandbox: Sandbox) -> str:
    farm = Farm(
        root=place,
        sandbox=sandbox,
        script=[{"run": {"command": "cat /proc/self/mountinfo"}}],
        hidden={"check.sh": "test -f src/a.py"},
    )
    line = farm.line()
    try:
        carry(line, farm.ticket)
    finally:
        line.close()
    seen = farm.artifact("session.work.stderr").decode()
    cell = farm.plan.cells[0]
    telling = (farm.plan.name, farm.sweep, cell.id, cell.task, cell.arm)
    assert [name for name in telling if f"/{name}" in seen] == []
    return seen


def test_f9_a_sessions_mounts_tell_of_no_sweep_task_arm_or_oracle() -> None:
    place = work_root() / "line-f9"
    seen = _mounts_of_a_session(place, bubblewrap())
    below = [word.split("/line-f9/", 1)[1] for word in seen.split() if "/line-f9/" in word]
    assert len(below) == 3
    for path in below:
        cells, area, cell, part = path.split("/")
        assert cells == "cells"
        assert (int(area, 16), int(cell, 16)) > (0, 0)
        assert part in {"ws", "out"} or part.startswith("home-")


def test_o1_no_word_of_the_hidden_files_is_anywhere_while_a_session_lives_and_the_check_finds_it() -> None:
    # The brackets keep the pattern itself, which is in the script and on command lines, from being found.
    word = "[x]ylograph-4711"
    told = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /proc/[0-9]*/mountinfo 2>/dev/null"
    by_content = f"grep -rlsa --exclude-dir=proc --exclude-dir=usr '{word}' /"
    by_name = f"find / -name '{word}' 2>/dev/null"
    look = f"{by_content}; {by_name}; {told} | grep -ac '{word}'"
    check = f"grep -rq '{word}' $FARM_HIDDEN && test -n \"$(find $FARM_HIDDEN -name '{word}')\""
    farm = Farm(
        root=work_root() / "line-o1",
        sandbox=bubblewrap(),
        script=[{"run": {"command": f"{look}; true"}}],
        oracle=OracleSpec(kind="command", options={"argv": ["sh", "-c", check]}),
        hidden={"xylograph-4711": "xylograph-4711"},
    )
    line = farm.line()
    try:
        carry(line, farm.ticket)
    finally:
        line.close()
    evidence = farm.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is True
    assert farm.artifact("session.work.stderr").split() == [b"0"]
