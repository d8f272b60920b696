"""Blobs and records in one bucket."""

import secrets
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from farm.adapters.record_key import checked_key, checked_prefix, is_reserved
from farm.adapters.s3.bucket import Bucket
from farm.adapters.verified import file_digest, missing, verified, write_whole
from farm.errors import SpecError
from farm.model import Digest
from farm.model.keys import blob_key
from farm.ports import StoreAccess

_LARGE_BYTES = 64 << 20
"""Above it an object is sent in parts."""
_WORTH_ASKING_BYTES = 256 << 10
"""From here on it is cheaper to ask for a blob first than to send one that is there."""


class S3Blobs:
    """Blobs as objects."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def put(self, body: bytes) -> Digest:
        digest = Digest.of(body)
        if len(body) < _WORTH_ASKING_BYTES or not self._has(digest):
            self._bucket.create(blob_key(digest), body, digest)
        return digest

    def put_file(self, path: Path) -> Digest:
        with path.open("rb") as file:
            digest = file_digest(file)
            size = file.tell()
            if size < _WORTH_ASKING_BYTES or not self._has(digest):
                self._send(file, size, digest)
        return digest

    def get(self, digest: Digest) -> bytes:
        return b"".join(self._read(digest))

    def fetch(self, digest: Digest, path: Path) -> None:
        write_whole(path, self._read(digest))

    def _has(self, digest: Digest) -> bool:
        return self._bucket.size(blob_key(digest)) is not None

    def _send(self, file: BufferedReader, size: int, digest: Digest) -> None:
        if size > _LARGE_BYTES:
            self._bucket.create_in_parts(blob_key(digest), file, digest)
        else:
            self._bucket.create(blob_key(digest), file, digest)

    def _read(self, digest: Digest) -> Iterator[bytes]:
        chunks = self._bucket.chunks(blob_key(digest))
        if next(chunks, None) is None:
            raise missing(digest, self._bucket.url)
        yield from verified(chunks, digest, self._bucket.url)


class S3Records:
    """Records as objects."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def create(self, key: str, body: bytes) -> bool:
        return self._bucket.create(checked_key(key), body, Digest.of(body))

    def read(self, key: str) -> bytes | None:
        parts = tuple(self._bucket.chunks(checked_key(key)))
        return b"".join(parts) if parts else None

    def keys(self, prefix: str) -> Iterator[str]:
        return (key for key in self._bucket.keys(checked_prefix(prefix)) if not is_reserved(key))


class S3Store:
    """A store below `prefix` ("" for the whole bucket)."""

    def __init__(self, bucket: str, prefix: str, access: StoreAccess) -> None:
        self._bucket = Bucket(bucket, prefix, access)
        self.blobs = S3Blobs(self._bucket)
        self.records = S3Records(self._bucket)

    @property
    def url(self) -> str:
        return self._bucket.url

    def check(self) -> None:
        """Create one probe object twice; the second time must be refused and leave the first one's bytes."""
        key = f"probes/{secrets.token_hex(8)}"
        first, second = b"first\n", b"second\n"
        created = self._bucket.create(key, first, Digest.of(first))
        try:
            again = self._bucket.create(key, second, Digest.of(second))
            if not created or again or self._bucket.digest(key) != Digest.of(first):
                raise SpecError(
                    f"{self.url}: the server ignores If-None-Match, so a record could be overwritten; "
                    "use a store with conditional writes, or set FARM_S3_ENDPOINT_URL to one"
                )
        finally:
            self._bucket.delete(key)
