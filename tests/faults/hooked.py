"""A store that passes points, as a plug-in of the tests: `hooked-s3://…` is `s3://…` and `hooked-file://…` is …"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from farm.adapters import files, s3
from farm.model import Digest
from farm.ports import BlobStore, Records, StoreAccess
from tests.faults.points import PLACE, Passing, Points, passing

_PREFIX = "hooked-"


class HookedRecords:
    """Records, with a point before and after each creation."""

    def __init__(self, records: Records, points: Points) -> None:
        self._records = records
        self._points = points

    def create(self, key: str, body: bytes) -> bool:
        self._points.passed(passing("before", key))
        is_new = self._records.create(key, body)
        self._points.passed(passing("after", key))
        return is_new

    def read(self, key: str) -> bytes | None:
        return self._records.read(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self._records.keys(prefix)


class HookedBlobs:
    """Blobs, with a point before and after each."""

    def __init__(self, blobs: BlobStore, points: Points) -> None:
        self._blobs = blobs
        self._points = points

    def __getattr__(self, name: str) -> Any:
        return getattr(self._blobs, name)

    def put(self, body: bytes) -> Digest:
        self._points.passed(Passing("before blob"))
        digest = self._blobs.put(body)
        self._points.passed(Passing("after blob"))
        return digest


class HookedStore:
    """A store whose records and blobs pass points."""

    def __init__(self, store: Any, url: str, points: Points) -> None:
        self._store = store
        self.url = url
        self.blobs = HookedBlobs(store.blobs, points)
        self.records = HookedRecords(store.records, points)

    def check(self) -> None:
        self._store.check()


def points() -> Points:
    """Give the points of this process."""
    return Points(Path(os.environ[PLACE]))  # noqa: TID251 (a plug-in of the tests has no settings)


def open_store(url: str, access: StoreAccess) -> HookedStore:
    """Open the store that the URL names after the prefix."""
    plain = url.removeprefix(_PREFIX)
    opener: Any = s3.open_store if plain.startswith("s3:") else files.open_store
    return HookedStore(opener(plain, access), url, points())


def lay_out(folder: Path) -> None:
    """Make the plug-in known to whatever has `folder` on its path."""
    about = folder / "hooked-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hooked\nVersion: 1\n")
    lines = [f"{_PREFIX}{scheme} = {__name__}:open_store" for scheme in ("s3", "file")]
    (about / "entry_points.txt").write_text("\n".join(["[farm.stores]", *lines, ""]))
