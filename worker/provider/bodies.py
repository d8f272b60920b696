"""Bodies that come compressed."""

import zlib

MOST_BYTES = 64 * 1024 * 1024
"""Of a body, before and after it is unpacked."""
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def unpacked(body: bytes, encoding: str | None) -> bytes:
    """Unpack a body; one in an encoding that we don't know stays as it is. Raises ValueError."""
    window = _WINDOWS.get(encoding or "")
    if window is None:
        return body
    reader = zlib.decompressobj(window)
    try:
        whole = reader.decompress(body, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"it is not {encoding}: {error}") from error
    if reader.unconsumed_tail or not reader.eof:
        raise ValueError(f"its {encoding} is not whole, or over {MOST_BYTES} bytes")
    return whole
