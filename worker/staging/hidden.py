"""An oracle's hidden files: on the host's disk only while the check runs, once every session is dead."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from farm.errors import IntegrityError, SpecError
from worker.staging.ground import Ground
from worker.trees.archive import unpack
from worker.trees.copying import Ownership
from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree
from worker.trees.scan import changes_between, scan


@dataclass(frozen=True, slots=True)
class HiddenFiles:
    """Where they lie on the host, and where a check finds them."""

    source: Path
    target: str


@contextmanager
def hidden_files(ground: Ground, body: bytes, group: Ownership) -> Iterator[HiddenFiles]:
    """Unpack `body` where the slot's group alone can read it, at a name that nobody can guess; remove it after.

    Raises IntegrityError at the block's end when a byte of it is not what it was: what the check said is void then.
    """
    stage = ground.new_stage(group)
    try:
        try:
            unpack(body, stage)
        except TreeError as error:
            raise SpecError(f"the oracle's hidden files: {error}") from error
        before = scan(stage)
        yield HiddenFiles(stage, f"/cell/.o-{secrets.token_hex(8)}")
        if changes_between(before, scan(stage)).paths:
            raise IntegrityError("the oracle's hidden files were changed while its check ran; its finding is void")
    finally:
        remove_tree(stage)
