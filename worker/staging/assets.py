"""Assets: folders that an arm brings for its agent, laid out once a host by the digest of their bytes."""

from pathlib import Path

from farm.errors import SpecError
from farm.model import Digest
from farm.ports import BlobStore
from worker.staging.placing import place_once
from worker.trees.archive import unpack
from worker.trees.errors import TreeError


def ready_asset(root: Path, drafts: Path, digest: Digest, blobs: BlobStore) -> Path:
    """Give the folder of the tar `digest` below `root`, made in `drafts` when this host has none.

    Every slot may read it and none may write it. Raises SpecError for a tar that no folder can be made of.
    """

    def fill(draft: Path) -> None:
        try:
            unpack(blobs.get(digest), draft)
        except TreeError as error:
            raise SpecError(f"the asset {digest} can't be unpacked: {error}") from error

    path = root / digest
    place_once(path, drafts, fill)
    return path
