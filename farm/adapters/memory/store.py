"""A store that is gone with its process."""

import threading
from collections.abc import Iterator
from pathlib import Path

from farm.adapters.record_key import checked_key, checked_prefix
from farm.adapters.verified import missing, verified, write_whole
from farm.model import Digest

_URL = "memory://"


class MemoryBlobs:
    """Blobs in a dict; what a test puts into `bodies` by hand is found out by its digest."""

    def __init__(self) -> None:
        self.bodies: dict[Digest, bytes] = {}

    def put(self, body: bytes) -> Digest:
        digest = Digest.of(body)
        self.bodies.setdefault(digest, bytes(body))
        return digest

    def put_file(self, path: Path) -> Digest:
        return self.put(path.read_bytes())

    def get(self, digest: Digest) -> bytes:
        body = self.bodies.get(digest)
        if body is None:
            raise missing(digest, _URL)
        return b"".join(verified((body,), digest, _URL))

    def fetch(self, digest: Digest, path: Path) -> None:
        write_whole(path, (self.get(digest),))


class MemoryRecords:
    """Records in a dict."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self._lock = threading.Lock()  # makes looking and creating one step

    def create(self, key: str, body: bytes) -> bool:
        checked_key(key)
        with self._lock:
            if key in self.bodies:
                return False
            self.bodies[key] = bytes(body)
            return True

    def read(self, key: str) -> bytes | None:
        return self.bodies.get(checked_key(key))

    def keys(self, prefix: str) -> Iterator[str]:
        checked_prefix(prefix)
        with self._lock:
            known = sorted(self.bodies)
        return (key for key in known if key.startswith(prefix))


class MemoryStore:
    """Blobs and records in memory."""

    def __init__(self) -> None:
        self.blobs = MemoryBlobs()
        self.records = MemoryRecords()

    @property
    def url(self) -> str:
        return _URL

    def check(self) -> None:
        """Nothing can be wrong with it."""
