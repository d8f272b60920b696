"""Content encodings, undone piece by piece and within a bound, to look at what passes; never to change it."""

import sys
import zlib
from collections.abc import Iterator
from typing import Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PIECE = 65536
_GZIP = 16 + zlib.MAX_WBITS


class CodingError(Exception):
    """The bytes are not what their encoding says, or too many."""


class SwollenError(CodingError):
    """They are too many."""


class Decoder(Protocol):
    """Undoes one encoding."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Give what `chunk` adds, in pieces; CodingError."""
        ...

    def finish(self) -> None:
        """Raise CodingError when the bytes end too early."""
        ...


class Identity:
    """Nothing to undo."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def finish(self) -> None:
        pass


class Deflated:
    """gzip and deflate."""

    def __init__(self, most_bytes: int, bits: int) -> None:
        self._left = most_bytes
        self._state = zlib.decompressobj(bits)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        rest, has_more = chunk, False
        while rest or has_more:
            if self._state.eof:
                raise CodingError("bytes after the end of the compressed ones")
            try:
                piece = self._state.decompress(rest, _PIECE)
            except zlib.error as error:
                raise CodingError(f"not what its encoding says: {error}") from error
            self._left = _less(self._left, piece)
            yield piece
            rest = self._state.unconsumed_tail or self._state.unused_data
            has_more = len(piece) == _PIECE and not self._state.eof

    def finish(self) -> None:
        if not self._state.eof:
            raise CodingError("the compressed bytes end too early")


class Zstandard:
    """zstd: one frame."""

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._state = zstd.ZstdDecompressor()

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        rest, has_more = chunk, False
        while rest or has_more:
            piece = self._undone(rest)
            self._left = _less(self._left, piece)
            yield piece
            rest = self._state.unused_data if self._state.eof else b""
            has_more = len(piece) == _PIECE and not self._state.eof

    def _undone(self, rest: bytes) -> bytes:
        if self._state.eof:
            raise CodingError("bytes after the end of the compressed ones")
        try:
            return self._state.decompress(rest, _PIECE)
        except zstd.ZstdError as error:
            raise CodingError(f"not what its encoding says: {error}") from error

    def finish(self) -> None:
        if not self._state.eof:
            raise CodingError("the compressed bytes end too early")


def decoder(encoding: str, most_bytes: int) -> Decoder | None:
    """Make a decoder for a Content-Encoding that gives `most_bytes` at most; None for one that we can't undo."""
    match encoding.strip().lower():
        case "" | "identity":
            return Identity()
        case "gzip" | "x-gzip":
            return Deflated(most_bytes, _GZIP)
        case "deflate":
            return Deflated(most_bytes, zlib.MAX_WBITS)
        case "zstd":
            return Zstandard(most_bytes)
        case _:
            return None


def _less(left: int, piece: bytes) -> int:
    if len(piece) > left:
        raise SwollenError("more bytes than are read when decompressed")
    return left - len(piece)
