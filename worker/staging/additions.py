"""What a task adds to its snapshot: copied files, and links to what its sandboxes see read-only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from farm.errors import SpecError
from farm.model import CopiedAsset, Digest
from farm.ports import BlobStore
from worker.trees.archive import unpack
from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree


@dataclass(frozen=True, slots=True)
class Additions:
    """They are the template's, so no session's change; nothing of them may stand where the snapshot has something."""

    copies: tuple[CopiedAsset, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    """Where each leads inside a sandbox, by its path in the workspace."""

    @property
    def key(self) -> list[JsonValue]:
        """Give what determines them."""
        copies: list[JsonValue] = [[one.target, one.files] for one in self.copies]
        links: list[JsonValue] = [[target, self.links[target]] for target in sorted(self.links)]
        return [copies, links] if copies or links else []

    def lay(self, root: Path, scratch: Path, blobs: BlobStore) -> None:
        """Lay them into a workspace of ours; raise SpecError for what has no place there."""
        for one in self.copies:
            _free_place(root, one.target)
            outside = [path for path in fetch(blobs, one.files, scratch, root) if not _is_at_or_below(path, one.target)]
            if outside:
                raise SpecError(f"the files for {one.target!r} hold {outside[0]!r}, which is not there")
        for target, leads_to in self.links.items():
            _free_place(root, target).symlink_to(leads_to)


def fetch(blobs: BlobStore, digest: Digest, scratch: Path, target: Path) -> tuple[str, ...]:
    """Unpack a tar that may be large into `target`, by way of the new folder `scratch`; give its files' paths.

    Raises SpecError for a tar that can't be unpacked.
    """
    scratch.mkdir(mode=0o700)
    try:
        blobs.fetch(digest, scratch / "files.tar")
        return unpack(scratch / "files.tar", target)
    except TreeError as error:
        raise SpecError(f"the files {digest} can't be unpacked: {error}") from error
    finally:
        remove_tree(scratch)


def _free_place(root: Path, path: str) -> Path:
    """Make the folders above `path`, following no link, and see that nothing is there."""
    place = root
    for part in path.split("/")[:-1]:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise SpecError(f"{path!r} lies below {place.name!r}, which is no folder in the workspace")
        place.mkdir(mode=0o755, exist_ok=True)
    place = root / path
    if place.is_symlink() or place.exists():
        raise SpecError(f"{path!r} is in the workspace already; choose another place for what the task brings")
    return place


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
