"""Records: small JSON documents written once, by exclusive creation, never changed and never deleted by a run."""

from collections.abc import Iterator
from typing import Protocol

from farm.errors import SpecError


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


def read_required(records: Records, key: str) -> bytes:
    """Return the bytes of a record that a sweep in this store must have; raise SpecError when there is none."""
    body = records.read(key)
    if body is None:
        raise SpecError(f"the store has no {key}: check the sweep's id and the store's address")
    return body
