"""Records as read-only files, created by a hard link."""

import os
from collections.abc import Iterator
from pathlib import Path

from farm.adapters.files.writing import Spool, answering, link_new
from farm.adapters.record_key import checked_key, checked_prefix, is_reserved


class FileRecords:
    """Records below a root, at their keys."""

    def __init__(self, root: Path, spool: Spool) -> None:
        self._root = root
        self._spool = spool

    def create(self, key: str, body: bytes) -> bool:
        path = self._root / checked_key(key)
        with answering(self._root):
            return link_new(self._spool.write((body,)), path)

    def read(self, key: str) -> bytes | None:
        path = self._root / checked_key(key)
        with answering(self._root):
            try:
                return path.read_bytes()
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                return None

    def keys(self, prefix: str) -> Iterator[str]:
        folder = checked_prefix(prefix).rpartition("/")[0]
        with answering(self._root):
            for key in _below(self._root, f"{folder}/" if folder else ""):
                if key.startswith(prefix):
                    yield key


def _below(root: Path, folder: str) -> Iterator[str]:
    """Yield the keys below `folder` ("" or ending in "/") in the order of whole keys: "a-b" stands before "a/b"."""
    try:
        with os.scandir(root / folder) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        key = folder + name
        if name.startswith(".") or is_reserved(key):
            continue
        if name.endswith("/"):
            yield from _below(root, key)
        else:
            yield key
