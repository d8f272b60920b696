"""Folders made once a host, under a name that says all that went in, so that slots and workers can share them."""

import secrets
from collections.abc import Callable
from pathlib import Path

from worker.trees.removing import remove_tree


def place_once(path: Path, drafts: Path, fill: Callable[[Path], None]) -> None:
    """Make the folder `path` unless it is there; `fill` fills a draft of it, and gives it something.

    Whoever finishes first puts the folder in its place, whole; the others drop theirs.
    """
    if path.exists():
        return
    draft = drafts / secrets.token_hex(8)
    draft.mkdir(mode=0o755)
    try:
        fill(draft)
        try:
            draft.rename(path)  # a folder that is there and not empty is never replaced
        except OSError:
            if not path.exists():
                raise
    finally:
        remove_tree(draft)
