"""A guest's raw output: in a file of the cell's folder before a parser sees it, and gone with that folder."""

import os
from collections.abc import Callable
from pathlib import Path

from sandbox.spec import Stream


class RawStreams:
    """Appends both outputs to files below `folder`, then hands each chunk on. The sandbox bounds them."""

    def __init__(self, folder: Path, name: str, then: Callable[[Stream, bytes], None]) -> None:
        self._paths = {stream: folder / f"{name}.{stream}" for stream in Stream}
        self._then = then
        self._open: dict[Stream, int] = {}

    def sink(self, stream: Stream, chunk: bytes) -> None:
        """Take a chunk as it comes."""
        if stream not in self._open:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._open[stream] = os.open(self._paths[stream], flags, 0o600)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(self._open[stream], rest) :]
        self._then(stream, chunk)

    def body(self, stream: Stream) -> bytes:
        """Return what was written."""
        return self._paths[stream].read_bytes() if self._paths[stream].exists() else b""

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
