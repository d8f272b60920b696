"""The scope check: what was changed in a workspace against what may change."""

from pathlib import Path

from farm.model import Scope, ScopeFinding, Task, WorkspaceMode, matches_any
from worker.cell.left import BrokenBound, Left, look_at
from worker.trees.errors import TreeLimit
from worker.trees.scan import Check, Entry, EntryKind, Tree, changes_between, shown

_MOST_LISTED = 200


def scope_finding(task: Task, before: Tree, left: Left, workspace: Path, check: Check) -> ScopeFinding:
    """Check twice: as the sessions left the workspace, and as it is now that the oracle has run.

    An oracle that saw the workspace read-only, or not at all, can't have changed it: nothing is read again. A workspace
    that breaks a bound of ours is out of any scope: nobody can say what was changed in it.
    """
    first = _broken(before, left, task.scope)
    if task.oracle.workspace is not WorkspaceMode.WRITABLE or isinstance(left, BrokenBound):
        return ScopeFinding(before_oracle=first, after_oracle=first)
    after = look_at(workspace, check)
    second = _broken(before, after, task.scope)
    if not task.oracle.keep_output:
        second = _hushed(second, first) if isinstance(after, Tree) else (_hushed_bound(after),)
    return ScopeFinding(before_oracle=first, after_oracle=second)


def _broken(before: Tree, left: Left, scope: Scope) -> tuple[str, ...]:
    return (left.told,) if isinstance(left, BrokenBound) else out_of_scope(before, left, scope)


def _hushed(second: tuple[str, ...], first: tuple[str, ...]) -> tuple[str, ...]:
    """Name nothing that the oracle's run made: candidate code can write a hidden file into the names of its own."""
    named = tuple(line for line in second if line in first)
    more = len(second) - len(named)
    return (*named, f"{more} more, since the oracle ran") if more else named


def _hushed_bound(broken: BrokenBound) -> str:
    """Tell a bound in our own words, and not where it was broken."""
    return broken.limit if broken.limit is TreeLimit.UNREADABLE else broken.told


def out_of_scope(before: Tree, after: Tree, scope: Scope) -> tuple[str, ...]:
    """List what breaks the scope, sorted, at most 200 lines: paths, and the bounds that the workspace breaks."""
    broken: list[str] = []
    if scope.allowed is not None:
        broken += [path for path in changes_between(before, after).paths if not matches_any(path, scope.allowed)]
    if scope.most_files is not None or scope.most_file_bytes is not None:
        broken += [line for path, entry in after.entries.items() if (line := _entry_problem(path, entry, scope))]
        files = sum(entry.kind is EntryKind.FILE for entry in after.entries.values())
        if scope.most_files is not None and files > scope.most_files:
            broken.append(f"{files} files, where at most {scope.most_files} may be")
    return tuple(shown(line) for line in sorted(broken)[:_MOST_LISTED])


def _entry_problem(path: str, entry: Entry, scope: Scope) -> str | None:
    if entry.kind is not EntryKind.FILE:
        return f"{path} (no regular file)"
    if scope.most_file_bytes is not None and entry.size > scope.most_file_bytes:
        return f"{path} ({entry.size} bytes, where at most {scope.most_file_bytes} may be)"
    return None
