"""What the sessions found in the workspace, and what they left there: a tree to compare, or a bound that they broke."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from worker.cell.faults import recordable
from worker.trees.errors import TreeLimit, TreeLimitError
from worker.trees.scan import Check, Tree, scan


@dataclass(frozen=True, slots=True)
class Beginning:
    """What the sessions find: the template, and what the task's setup made of it."""

    tree: Tree
    repository: Path
    """Of ours: its main has these files."""
    uncounted: frozenset[str] = frozenset()
    """But for those that git can't take."""


@dataclass(frozen=True, slots=True)
class BrokenBound:
    """Which bound a workspace breaks: such a one is compared with nothing, and nobody judges it."""

    limit: TreeLimit
    detail: str

    @property
    def told(self) -> str:
        return f"{self.limit}: {self.detail}"


Left: TypeAlias = Tree | BrokenBound


def look_at(workspace: Path, check: Check) -> Left:
    """Fingerprint a workspace whose guests are dead; that they made one too large to take in is data."""
    try:
        return scan(workspace, check)
    except TreeLimitError as error:
        return BrokenBound(error.limit, recordable(str(error)))
