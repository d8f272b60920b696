"""Bodies that come compressed."""

import sys
import zlib
from typing import Protocol

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_BYTES = 64 * 1024 * 1024
"""Of a body, before and after it is unpacked."""
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class _Reader(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def unpacked(body: bytes, encoding: str | None) -> bytes:
    """Unpack a body; one in an encoding that we don't know stays as it is. Raises ValueError."""
    match encoding:
        case "gzip" | "deflate":
            reader: _Reader = zlib.decompressobj(_WINDOWS[encoding])
        case "zstd":
            reader = zstd.ZstdDecompressor()
        case _:
            return body
    try:
        whole = reader.decompress(body, MOST_BYTES)
    except (zlib.error, zstd.ZstdError) as error:
        raise ValueError(f"it is not {encoding}: {error}") from error
    if not reader.eof:
        raise ValueError(f"its {encoding} is not whole, or over {MOST_BYTES} bytes")
    return whole
