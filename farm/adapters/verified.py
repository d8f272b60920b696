"""Bytes that prove to be what their name says, and files that appear whole or not at all."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path

from farm.errors import IntegrityError, TransientError
from farm.model import Digest

_CHUNK_BYTES = 1 << 20


def chunks_of(file: BufferedReader, chunk_bytes: int = _CHUNK_BYTES) -> Iterator[bytes]:
    """Read `file` to its end."""
    while chunk := file.read(chunk_bytes):
        yield chunk


def file_digest(file: BufferedReader) -> Digest:
    """Digest what is left of `file`."""
    return Digest(hashlib.file_digest(file, "sha256").hexdigest())


def missing(digest: Digest, where: str) -> IntegrityError:
    """Say that a blob is not where it must be."""
    return IntegrityError(f"blob {digest} is missing in {where}; restore it from a copy of the store")


def verified(chunks: Iterable[bytes], digest: Digest, where: str) -> Iterator[bytes]:
    """Pass `chunks` on; raise IntegrityError at their end when they are not the bytes of `digest`."""
    measure = hashlib.sha256()
    for chunk in chunks:
        measure.update(chunk)
        yield chunk
    if measure.hexdigest() != digest:
        raise IntegrityError(
            f"blob {digest} in {where} holds other bytes, of digest {measure.hexdigest()}; restore it from a copy"
        )


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write `chunks` to `path`, which appears when all of them are there; nothing is left of a failure."""
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with partial.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
        partial.replace(path)
    except OSError as error:
        raise TransientError(f"{path} could not be written: {error}; see to the space and the folder") from error
    finally:
        partial.unlink(missing_ok=True)
