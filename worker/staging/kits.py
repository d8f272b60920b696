"""Kits: Python sources of ours, laid out once a host and read-only to every guest, compiled so that they load fast."""

import compileall
import secrets
from contextlib import suppress
from pathlib import Path
from py_compile import PycInvalidationMode

from worker.session import Kit
from worker.trees.removing import remove_tree


def ready_kit(root: Path, drafts: Path, kit: Kit) -> Path:
    """Give the kit's folder below `root`, made in `drafts` first: whoever finishes first puts it in its place.

    It is compiled for our own Python; a sandbox with another one reads the sources.
    """
    path = root / kit.digest
    if path.exists():
        return path
    draft = drafts / secrets.token_hex(8)
    draft.mkdir(mode=0o755)
    try:
        for name, body in kit.files.items():
            place = draft / name
            place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            place.write_bytes(body)
        compileall.compile_dir(draft, maxlevels=20, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
        for place in draft.rglob("*"):
            place.chmod(0o755 if place.is_dir() else 0o644)
        with suppress(OSError):
            draft.rename(path)  # a folder that is there and not empty is never replaced
    finally:
        remove_tree(draft)
    return path
