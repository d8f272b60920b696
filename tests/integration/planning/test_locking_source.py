from pathlib import Path

import pytest

from farm.planning.locking_source import Source, look_at_source
from tests.builders.planning import a_repository, git

FILES = {"sweep.yaml": "name: demo\n", "demo.lock": "{}\n", "a.txt": "one\n"}


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Give a repository whose branch is pushed, lock and all."""
    folder = tmp_path / "bench"
    a_repository(folder, FILES)
    git(tmp_path, "init", "--quiet", "--bare", "origin.git")
    git(folder, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(folder, "push", "--quiet", "-u", "origin", "main")
    return folder


def looked_at(folder: Path) -> Source:
    return look_at_source(folder / "sweep.yaml", folder / "demo.lock")


def test_a_clean_and_pushed_repository_has_no_problem(published: Path) -> None:
    found = looked_at(published)
    assert found.problems == ()
    assert found.state is not None
    assert (found.state.commit, found.state.is_clean) == (git(published, "rev-parse", "HEAD"), True)
    assert found.state.is_published


def test_untracked_files_are_left_alone(published: Path) -> None:
    (published / "notes.txt").write_text("mine\n")
    assert looked_at(published).problems == ()


@pytest.mark.parametrize("staged", [False, True])
def test_a_changed_file_is_named(published: Path, *, staged: bool) -> None:
    (published / "a.txt").write_text("two\n")
    if staged:
        git(published, "add", "a.txt")
    found = looked_at(published)
    assert found.state is not None
    assert not found.state.is_clean
    assert "a.txt is changed; commit, and push" in found.problems[0]


def test_a_commit_that_is_not_pushed_is_not_published(published: Path) -> None:
    git(published, "commit", "--quiet", "--allow-empty", "-m", "more")
    found = looked_at(published)
    assert found.state is not None
    assert not found.state.is_published
    assert "and its upstream is" in found.problems[0]


def test_a_branch_without_an_upstream_is_not_published(published: Path) -> None:
    git(published, "checkout", "--quiet", "-b", "mine")
    (problem,) = looked_at(published).problems
    assert "the branch has no upstream" in problem


def test_a_lock_that_is_not_committed_is_named(published: Path) -> None:
    git(published, "rm", "--quiet", "--cached", "demo.lock")
    git(published, "commit", "--quiet", "-m", "without it")
    git(published, "push", "--quiet")
    (problem,) = looked_at(published).problems
    assert "demo.lock is not tracked" in problem


def test_a_lock_in_another_place_than_the_repository_is_named(published: Path, tmp_path: Path) -> None:
    (tmp_path / "else.lock").write_text("{}\n")
    (problem,) = look_at_source(published / "sweep.yaml", tmp_path / "else.lock").problems
    assert "else.lock is not tracked" in problem


def test_a_folder_below_the_repositorys_own_is_found_in_it(published: Path) -> None:
    (published / "sweeps").mkdir()
    for name in ("sweep.yaml", "demo.lock"):
        (published / "sweeps" / name).write_text(FILES[name])
    git(published, "add", "sweeps")
    git(published, "commit", "--quiet", "-m", "below")
    git(published, "push", "--quiet")
    assert looked_at(published / "sweeps").problems == ()


def test_a_file_outside_of_any_repository_has_no_source(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").write_text("name: demo\n")
    found = looked_at(tmp_path)
    assert found.state is None
    assert "no git repository holds" in found.problems[0]


def test_a_repository_without_a_commit_has_no_source(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    found = looked_at(tmp_path)
    assert found.state is None
    assert "nothing is committed" in found.problems[0]
