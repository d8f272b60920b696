"""Content-addressed bytes at blobs/sha256/<aa>/<hex>."""

from pathlib import Path
from typing import Protocol

from farm.model import Digest


class BlobStore(Protocol):
    """Bytes named by digest. Every method may raise TransientError when the store does not answer."""

    def put(self, body: bytes) -> Digest:
        """Store `body` once and return its digest; the stored bytes are verified on arrival."""
        ...

    def put_file(self, path: Path) -> Digest:
        """Store a file's bytes, streaming; the digest is of the bytes that arrived."""
        ...

    def get(self, digest: Digest) -> bytes:
        """Return verified bytes; raise IntegrityError when they are missing or are not `digest`'s."""
        ...

    def fetch(self, digest: Digest, path: Path) -> None:
        """Write verified bytes to `path`, which appears whole or not at all; errors as `get`."""
        ...
