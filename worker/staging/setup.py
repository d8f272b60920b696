"""What a task's setup may not do to a workspace: change what is under test, or bring what is hidden."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from farm.model import Arm, Task, matches_any
from farm.ports import BlobStore
from worker.trees.archive import contents
from worker.trees.scan import Changes, Tree, shown

_NOTHING = sha256().hexdigest()


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a setup must leave alone."""

    overlaid: frozenset[str] = frozenset()
    """The files that the sweep's arms lay over the workspace, of all of them: the arms' cells then fail alike."""
    linked: frozenset[str] = frozenset()
    """Where the links to the task's dependencies, and to what its builds made, stand."""
    hidden: frozenset[str] = frozenset()
    """The digests of what is in the oracle's files."""
    hidden_globs: tuple[str, ...] = ()
    """What the snapshot leaves out."""

    def problem(self, after: Tree, changes: Changes) -> str | None:
        """Say what is wrong with a workspace that a setup left; None: nothing."""
        for path in changes.paths:
            if path in self.overlaid:
                return f"the setup changed {shown(path)!r}, which an arm's overlay brings; let it leave that file alone"
            if path in self.linked:
                return f"the setup changed {shown(path)!r}, the link to a dependency; let it leave that alone"
        for path in (*changes.added, *changes.changed):
            if after.entries[path].content in self.hidden:
                return f"the setup left {shown(path)!r}, which is one of the oracle's hidden files; let it remove that"
            if matches_any(path, self.hidden_globs):
                return f"the setup left {shown(path)!r}, which the task's repository hides; let it remove that"
        return None


def guarded(task: Task, arms: Iterable[Arm], blobs: BlobStore) -> Guarded:
    """Read what the arms and the task's oracle bring."""
    overlays = {arm.overlay.files for arm in arms if arm.overlay is not None and arm.overlay.files is not None}
    hidden = () if task.oracle.files is None else contents(blobs.get(task.oracle.files)).values()
    return Guarded(
        overlaid=frozenset(path for digest in overlays for path in contents(blobs.get(digest))),
        linked=frozenset((*(one.target for one in task.dependencies), *(one.place for one in task.builds))),
        hidden=frozenset(hidden) - {_NOTHING},
        hidden_globs=task.snapshot.hidden,
    )
