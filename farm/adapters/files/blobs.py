"""Blobs as read-only files."""

import hashlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from farm.adapters.files.writing import Spool, answering, move
from farm.adapters.verified import chunks_of, file_digest, missing, verified, write_whole
from farm.errors import IntegrityError
from farm.model import Digest
from farm.model.keys import blob_key


class FileBlobs:
    """blobs/sha256/<aa>/<hex> below a root."""

    def __init__(self, root: Path, spool: Spool) -> None:
        self._root = root
        self._spool = spool

    def put(self, body: bytes) -> Digest:
        digest = Digest.of(body)
        with answering(self._root):
            if not self._holds(digest, len(body)):
                move(self._spool.write((body,)), self._path(digest))
        return digest

    def put_file(self, path: Path) -> Digest:
        with path.open("rb") as file, answering(self._root):
            known = file_digest(file)
            if self._holds(known, file.tell()):
                return known
            file.seek(0)
            return self._store(file)

    def get(self, digest: Digest) -> bytes:
        with answering(self._root):
            try:
                body = self._path(digest).read_bytes()
            except FileNotFoundError:
                raise missing(digest, self._root.as_uri()) from None
        return b"".join(verified((body,), digest, self._root.as_uri()))

    def fetch(self, digest: Digest, path: Path) -> None:
        write_whole(path, verified(self._read(digest), digest, self._root.as_uri()))

    def _path(self, digest: Digest) -> Path:
        return self._root / blob_key(digest)

    def _holds(self, digest: Digest, size: int) -> bool:
        """Say whether the blob is there; a wrong size shows damage before anything builds on it."""
        try:
            stored = self._path(digest).stat().st_size
        except FileNotFoundError:
            return False
        if stored != size:
            raise IntegrityError(f"blob {digest} has {stored} bytes instead of {size}; restore it from a copy")
        return True

    def _store(self, file: BufferedReader) -> Digest:
        """Store what `file` gives; the digest is of these bytes, whatever else the file held before."""
        measure = hashlib.sha256()

        def measured() -> Iterator[bytes]:
            for chunk in chunks_of(file):
                measure.update(chunk)
                yield chunk

        spooled = self._spool.write(measured())
        digest = Digest(measure.hexdigest())
        move(spooled, self._path(digest))
        return digest

    def _read(self, digest: Digest) -> Iterator[bytes]:
        with answering(self._root):
            try:
                file = self._path(digest).open("rb")
            except FileNotFoundError:
                raise missing(digest, self._root.as_uri()) from None
            with file:
                yield from chunks_of(file)
