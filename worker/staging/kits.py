"""Kits: Python sources of ours, laid out once a host and read-only to every guest, compiled so that they load fast."""

import compileall
from pathlib import Path
from py_compile import PycInvalidationMode

from worker.session import Kit
from worker.staging.placing import place_once


def ready_kit(root: Path, drafts: Path, kit: Kit) -> Path:
    """Give the kit's folder below `root`, made in `drafts` when this host has none.

    It is compiled for our own Python; a sandbox with another one reads the sources.
    """

    def fill(draft: Path) -> None:
        for name, body in kit.files.items():
            place = draft / name
            place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            place.write_bytes(body)
        compileall.compile_dir(draft, maxlevels=20, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        for place in draft.rglob("*"):
            place.chmod(0o755 if place.is_dir() else 0o644)

    path = root / kit.digest
    place_once(path, drafts, fill)
    return path
