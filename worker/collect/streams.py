"""A guest's raw output: on disk before anything reads it, so that a killed worker leaves what there was."""

import os
from collections.abc import Callable
from pathlib import Path

from sandbox.spec import Stream


class RawStreams:
    """Appends both outputs to files below `folder`, then hands each chunk on; bounded by `most_bytes` each."""

    def __init__(self, folder: Path, name: str, most_bytes: int, then: Callable[[Stream, bytes], None]) -> None:
        self._paths = {stream: folder / f"{name}.{stream}" for stream in Stream}
        self._most_bytes = most_bytes
        self._then = then
        self._written = dict.fromkeys(Stream, 0)
        self._open: dict[Stream, int] = {}
        self._cut: set[Stream] = set()

    def sink(self, stream: Stream, chunk: bytes) -> None:
        """Take a chunk as it comes."""
        room = self._most_bytes - self._written[stream]
        if len(chunk) > room:
            self._cut.add(stream)
            chunk = chunk[:room]
        if not chunk:
            return
        if stream not in self._open:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._open[stream] = os.open(self._paths[stream], flags, 0o600)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(self._open[stream], rest) :]
        self._written[stream] += len(chunk)
        self._then(stream, chunk)

    def was_cut(self, stream: Stream) -> bool:
        return stream in self._cut

    def body(self, stream: Stream) -> bytes:
        """Return what was written."""
        return self._paths[stream].read_bytes() if self._written[stream] else b""

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
