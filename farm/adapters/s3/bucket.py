"""One bucket's objects below a prefix, with retries, and with what they leave in doubt resolved."""

from collections.abc import Iterator
from functools import partial
from io import BufferedReader

from botocore.exceptions import FlexibleChecksumError

from farm.adapters.s3.failures import FAILURES, Answer, Failure, Tries, meaning, persistently
from farm.adapters.s3.wire import Wire
from farm.adapters.verified import chunks_of, verified
from farm.errors import IntegrityError, TransientError
from farm.model import Digest
from farm.ports import StoreAccess

_PART_BYTES = 16 << 20


class Bucket:
    """Objects that are created once. Thread-safe; not to be carried over a fork."""

    def __init__(self, name: str, prefix: str, access: StoreAccess) -> None:
        self._wire = Wire(name, prefix, access)
        self._unanswered: set[str] = set()
        """Keys whose creation ended in a TransientError: it may have been carried out all the same."""

    @property
    def url(self) -> str:
        return self._wire.url

    def create(self, key: str, body: bytes | BufferedReader, digest: Digest) -> bool:
        """Create an object unless there is one.

        True: this call wrote it, or an earlier try of ours that had no clear answer did (equal bytes say so).
        """
        tries = Tries(self.url)
        while True:
            if isinstance(body, BufferedReader):
                body.seek(0)
            try:
                self._wire.put(key, body, digest)
            except FAILURES as failure:
                if meaning(failure) is Answer.EXISTS:
                    is_doubtful = tries.were_made or key in self._unanswered
                    return is_doubtful and self.digest(key) == digest
                self._failed(tries, failure, key)
            else:
                return True

    def create_in_parts(self, key: str, file: BufferedReader, digest: Digest) -> None:
        """Create a large object unless there is one; a conflict starts it over."""
        tries = Tries(self.url)
        while True:
            file.seek(0)
            try:
                self._wire.put_parts(key, verified(chunks_of(file, _PART_BYTES), digest, file.name))
            except FAILURES as failure:
                if meaning(failure) is Answer.EXISTS:
                    return
                tries.failed(failure)
            else:
                return

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield an object's bytes, read on where a connection broke: one chunk at least, or none for no object."""
        offset, tries = 0, Tries(self.url)
        while True:
            try:
                for chunk in self._wire.get(key, offset):
                    offset += len(chunk)
                    yield chunk
            except FlexibleChecksumError as failure:
                raise IntegrityError(
                    f"{self.url}/{key} does not hold the bytes that were sent ({failure}); restore it from a copy"
                ) from failure
            except FAILURES as failure:
                if meaning(failure) is Answer.MISSING:
                    return
                tries.failed(failure)
            else:
                return

    def size(self, key: str) -> int | None:
        """Say how many bytes an object has; None when there is no such object."""
        return persistently(self.url, partial(self._wire.size, key))

    def digest(self, key: str) -> Digest | None:
        """Say the digest of an object's bytes; None when there is no such object."""
        parts = tuple(self.chunks(key))
        return Digest.of(b"".join(parts)) if parts else None

    def keys(self, prefix: str) -> list[str]:
        """List the keys that start with `prefix`, in lexical order, which not every server keeps."""
        found: list[str] = []
        token: str | None = ""
        while token is not None:
            page = persistently(self.url, partial(self._wire.page, prefix, token))
            found += page.keys if page else ()
            token = page.token or None if page else None
        return sorted(found)

    def delete(self, key: str) -> None:
        """Delete an object: never a blob or a record, only what proved the store."""
        persistently(self.url, partial(self._wire.delete, key))

    def _failed(self, tries: Tries, failure: Failure, key: str) -> None:
        try:
            tries.failed(failure)
        except TransientError:
            self._unanswered.add(key)
            raise
