"""What a task's setup may not do to a workspace: change what is under test, or bring what is hidden."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from farm.model import Arm, Digest
from farm.ports import BlobStore
from worker.trees.archive import contents
from worker.trees.scan import Changes, Tree, shown

_NOTHING = sha256().hexdigest()


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a setup must leave alone."""

    overlaid: frozenset[str] = frozenset()
    """The files that the sweep's arms lay over the workspace, of all of them: the arms' cells then fail alike."""
    hidden: frozenset[str] = frozenset()
    """The digests of what is in the oracle's files."""

    def problem(self, after: Tree, changes: Changes) -> str | None:
        """Say what is wrong with a workspace that a setup left; None: nothing."""
        for path in changes.paths:
            if path in self.overlaid:
                return f"the setup changed {shown(path)!r}, which an arm's overlay brings; let it leave that file alone"
        for path in (*changes.added, *changes.changed):
            if after.entries[path].content in self.hidden:
                return f"the setup left {shown(path)!r}, which is one of the oracle's hidden files; let it remove that"
        return None


def guarded(arms: Iterable[Arm], oracle_files: Digest | None, blobs: BlobStore) -> Guarded:
    """Read what the arms and the oracle bring."""
    overlays = {arm.overlay.files for arm in arms if arm.overlay is not None and arm.overlay.files is not None}
    hidden = () if oracle_files is None else contents(blobs.get(oracle_files)).values()
    return Guarded(
        overlaid=frozenset(path for digest in overlays for path in contents(blobs.get(digest))),
        hidden=frozenset(hidden) - {_NOTHING},
    )
