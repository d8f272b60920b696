"""A task's dependencies: folders that a cell's sandboxes see read-only, laid out once a host by their digest.

The workspace has links to them, which are the template's. What must stay true: no session changes a dependency or its
link, and that is proven once the sessions are dead, before anything is judged.
"""

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from farm.errors import IntegrityError
from farm.model import MIB, Dependency, Digest
from farm.ports import BlobStore
from sandbox.locks import Held
from sandbox.spec import Bind, Scratch
from worker.kept import Kept
from worker.session import dependency_path
from worker.staging.additions import fetch
from worker.staging.placing import place_once
from worker.staging.using import condemn, use
from worker.trees.scan import Tree, listing

_MOST_MARKS = 64
SCRATCH_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class Laid:
    """A dependency on this host."""

    source: Path
    place: str
    """Where a sandbox finds it."""
    target: str
    """Where the workspace has the link that leads there."""
    mark: str
    """Of every entry's status, its times of change included."""
    scratch: tuple[Scratch, ...] = ()
    """What of it is empty and writable in each sandbox."""

    @property
    def bind(self) -> Bind:
        return Bind(self.source, self.place)


class Dependencies:
    """The host's dependencies; those of the cell at work are held until `release`."""

    def __init__(self, root: Path, drafts: Path, blobs: BlobStore) -> None:
        self._root = root
        self._drafts = drafts
        self._blobs = blobs
        self._marks: Kept[tuple[str, int, int], str] = Kept(_MOST_MARKS)
        self._held = ExitStack()

    def ready(self, dependencies: tuple[Dependency, ...], after: int = 0) -> tuple[Laid, ...]:
        """Give dependencies, numbered from `after` on, laying out what this host has not.

        They stay until `release`. Raises SpecError for a tar that no folder can be made of.
        """
        return tuple(self._laid(number, one) for number, one in enumerate(dependencies, start=after + 1))

    def release(self) -> None:
        """Let the last cell's go, if the disk is short."""
        self._held.close()

    def _laid(self, number: int, one: Dependency) -> Laid:
        path = self._root / one.files
        held = self._placed(path, one.files)
        self._held.callback(held.close)
        status = path.stat()
        mark = self._marks.get_or((path.name, status.st_ino, status.st_mtime_ns), lambda: mark_of(path))
        place = dependency_path(number, one.target)
        scratch = tuple(Scratch(f"{place}/{folder}", SCRATCH_BYTES) for folder in one.scratch)
        return Laid(path, place, one.target, mark, scratch)

    def _placed(self, path: Path, digest: Digest) -> Held:
        while True:
            place_once(path, self._drafts, lambda draft: self._fill(draft, digest))
            held = use(path)
            if held is not None:  # else it was dropped in between, as the disk is short
                return held

    def _fill(self, draft: Path, digest: Digest) -> None:
        fetch(self._blobs, digest, draft.with_name(f"{draft.name}-tar"), draft)


def mark_of(folder: Path) -> str:
    """Digest the status of all that is below a folder of ours: whoever changes anything there changes this."""
    whole = hashlib.sha256()
    for one in sorted(listing(folder), key=lambda one: one.path):
        status = one.status
        mark = (status.st_ino, status.st_mode, status.st_uid, status.st_gid, status.st_size)
        whole.update(
            f"{one.path}\0{mark}{status.st_mtime_ns} {status.st_ctime_ns}\n".encode("utf-8", "surrogateescape")
        )
    return whole.hexdigest()


def _is_as_it_was(one: Laid) -> bool:
    try:
        return mark_of(one.source) == one.mark
    except FileNotFoundError:  # another cell has found it changed
        return False


def ensure_untouched(laid: tuple[Laid, ...], before: Tree, after: Tree | None) -> None:
    """Raise IntegrityError when a session changed a dependency, or the link to one where there is a tree to look at."""
    for one in laid:
        if not _is_as_it_was(one):
            condemn(one.source)
            raise IntegrityError(f"the dependency at {one.target!r} changed while the sessions ran: its copy is void")
        if after is not None and before.entries.get(one.target) != after.entries.get(one.target):
            raise IntegrityError(
                f"the sessions changed {one.target!r}, the link to a dependency: nothing can be judged"
            )
