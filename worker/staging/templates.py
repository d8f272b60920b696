"""Workspaces ready to copy: a snapshot with an arm's overlay laid over, as a git repository of one commit."""

import os
from dataclasses import dataclass
from pathlib import Path

from farm.errors import SpecError
from farm.model import Digest, Overlay, Snapshot, canonical_json, matches_any
from farm.ports import BlobStore
from sandbox.locks import Held
from worker.kept import Kept
from worker.staging.additions import Additions
from worker.staging.guidance import strip_guidance
from worker.staging.placing import place_once
from worker.staging.using import use
from worker.trees.archive import unpack
from worker.trees.errors import TreeError
from worker.trees.git import commit_everything
from worker.trees.removing import remove_tree
from worker.trees.scan import Found, Tree, listing, scan

_FORMAT = 2
"""Raised when templates of the same inputs are made differently, so that old ones are not taken for new."""
_MOST_TREES = 64
_NONE = Additions()


@dataclass(frozen=True, slots=True)
class Template:
    """A folder to copy, and what it holds."""

    path: Path
    tree: Tree
    listing: tuple[Found, ...]

    @property
    def size_bytes(self) -> int:
        return sum(found.status.st_size for found in self.listing)


class Templates:
    """The host's templates, with this process's memory of what is in them."""

    def __init__(self, root: Path, drafts: Path, blobs: BlobStore) -> None:
        self._root = root
        self._drafts = drafts
        self._blobs = blobs
        self._known: Kept[tuple[str, int, int], Template] = Kept(_MOST_TREES)
        self._held: Held | None = None

    def ready(self, snapshot: Snapshot, overlay: Overlay | None, additions: Additions = _NONE) -> Template:
        """Give the template of the snapshot, with additions, under the overlay, making it when this host has none.

        It stays until `release`. Raises SpecError for a tar that a workspace can't be made of, or an overlay outside
        its boundary.
        """
        self.release()
        path = self._root / _key(snapshot, overlay, additions)
        while self._held is None:
            place_once(path, self._drafts, lambda draft: self._fill(draft, snapshot, overlay, additions))
            self._held = use(path)  # None: it was dropped in between, as the disk is short
        status = os.fstat(self._held.descriptor)
        return self._known.get_or(
            (path.name, status.st_ino, status.st_mtime_ns), lambda: Template(path, scan(path), listing(path))
        )

    def release(self) -> None:
        """Let the last template go, if the disk is short."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def _fill(self, draft: Path, snapshot: Snapshot, overlay: Overlay | None, additions: Additions) -> None:
        _unpack(self._blobs.get(snapshot.tree), draft, "the task's snapshot")
        additions.lay(draft, draft.with_name(f"{draft.name}-copy"), self._blobs)
        if overlay is not None and overlay.files is not None:
            self._lay(overlay.files, overlay.boundary, draft)
        if overlay is not None and overlay.guidance is not None:
            strip_guidance(draft, overlay.guidance)
        commit_everything(draft)

    def _lay(self, files: Digest, boundary: tuple[str, ...], draft: Path) -> None:
        laid = draft.with_name(f"{draft.name}-overlay")
        laid.mkdir(mode=0o755)
        try:
            for path in _unpack(self._blobs.get(files), laid, "the overlay"):
                if not matches_any(path, boundary):
                    raise SpecError(f"the overlay's {path!r} is outside its boundary {list(boundary)}")
                _replace(laid / path, draft, path)
        finally:
            remove_tree(laid)


def _unpack(body: bytes, target: Path, what: str) -> tuple[str, ...]:
    try:
        return unpack(body, target)
    except TreeError as error:
        raise SpecError(f"{what} can't be unpacked: {error}") from error


def _replace(source: Path, root: Path, path: str) -> None:
    """Move one overlaid file into its place; a link on the way there is refused, not followed."""
    place = root
    for part in path.split("/")[:-1]:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise SpecError(f"the overlay's {path!r} lies below {place.name!r}, which is no folder in the workspace")
        place.mkdir(mode=0o755, exist_ok=True)
    target = root / path
    if target.is_dir() and not target.is_symlink():
        raise SpecError(f"the overlay's file {path!r} is a folder in the workspace")
    source.replace(target)


def _key(snapshot: Snapshot, overlay: Overlay | None, additions: Additions) -> str:
    files = overlay.files if overlay is not None else None
    boundary = overlay.boundary if overlay is not None and files is not None else ()
    guidance = overlay.guidance if overlay is not None else None
    stripped = () if guidance is None else (guidance.model_dump(mode="json"),)
    return Digest.of(canonical_json([_FORMAT, snapshot.tree, files, *boundary, *additions.key, *stripped]))
