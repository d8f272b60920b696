"""Where a lock is published: the state of the git repository that holds it beside its sweep file."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from farm.model import SourceState
from farm.planning import git

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Source:
    """What was found, and why it does not do for a decision."""

    state: SourceState | None
    """None: no repository holds the file, or nothing is committed in it."""
    problems: tuple[str, ...]


def look_at_source(sweep_file: Path, lock_file: Path) -> Source:
    """Look at the repository around the sweep file; untracked files but these two are left alone."""
    root = _root(sweep_file)
    if root is None:
        return Source(None, (f"no git repository holds {sweep_file}; commit it, with its lock, and push",))
    try:
        commit = _text(root, "rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}")
    except git.GitError:
        return Source(None, (f"nothing is committed in {root}; commit the sweep file and its lock, and push",))
    dirty = [*_changed(root), *(f"{path} is not tracked" for path in _untracked(root, (sweep_file, lock_file)))]
    state = SourceState(commit=commit, upstream=_upstream(root), is_clean=not dirty)
    return Source(state, (*_dirt(root, dirty), *_unpublished(state)))


def _root(file: Path) -> Path | None:
    folders = file.resolve().parents
    return next((folder for folder in folders if (folder / ".git").exists()), None)


def _changed(root: Path) -> Iterator[str]:
    """Yield what is not as committed, of what is tracked."""
    told = git.run_git(root, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
    for entry in told.decode(errors="replace").split("\0"):
        if entry:
            yield f"{entry[3:]} is changed"


def _untracked(root: Path, files: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the files that the commit does not hold."""
    for file in files:
        inside = file.resolve()
        if not inside.is_relative_to(root):
            yield file
            continue
        named = inside.relative_to(root).as_posix()
        if not git.run_git(root, "ls-tree", "--name-only", "-z", "--full-tree", "HEAD", "--", named):
            yield file


def _upstream(root: Path) -> str | None:
    try:
        return _text(root, "rev-parse", "--verify", "--quiet", "--end-of-options", "@{upstream}^{commit}")
    except git.GitError:
        return None


def _dirt(root: Path, dirty: list[str]) -> Iterator[str]:
    if dirty:
        more = f", and {len(dirty) - _MOST_NAMED} more" if len(dirty) > _MOST_NAMED else ""
        yield f"{root} is not as committed: {', '.join(dirty[:_MOST_NAMED])}{more}; commit, and push"


def _unpublished(state: SourceState) -> Iterator[str]:
    if state.upstream is None:
        yield "the branch has no upstream, so nobody can see what was locked; push it with `git push -u`"
    elif not state.is_published:
        yield f"HEAD is {state.commit[:12]} and its upstream is {state.upstream[:12]}; push, or pull, until they agree"


def _text(root: Path, *args: str) -> str:
    return git.run_git(root, *args).decode().strip()
