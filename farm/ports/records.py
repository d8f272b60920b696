"""Records: small JSON documents written once, by exclusive creation, never changed and never deleted by a run."""

from collections.abc import Iterator
from typing import Protocol


class Records(Protocol):
    """Write-once documents by key. Every method may raise TransientError when the store does not answer."""

    def create(self, key: str, body: bytes) -> bool:
        """Create `key` exclusively. True: this call wrote it. False: it was there before, and is unchanged.

        After an ambiguous failure (a time-out, a 409) the stored bytes decide: equal bytes count as written by us.
        """
        ...

    def read(self, key: str) -> bytes | None:
        """Return a record's bytes, or None when there is no such record."""
        ...

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that start with `prefix`, in lexical order."""
        ...
