"""One output stream of a guest, read without blocking and cut at its cap."""

import os

from sandbox.spec import Sink, Stream

_CHUNK = 65536
_HEAD = 4096


class Outlet:
    """The reading end of one stream; the sink gets at most `cap` bytes of it."""

    def __init__(self, fd: int, stream: Stream, sink: Sink, cap: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.stream = stream
        self.head = b""
        """The first few kilobytes, for a message about a start that failed."""
        self.is_over_cap = False
        self.is_open = True
        self._sink = sink
        self._left = cap

    def read(self) -> bool:
        """Pass on what is there now, one chunk; False when there is nothing more for now."""
        try:
            chunk = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.is_open = False
            return False
        self._pass_on(chunk)
        return True

    def drain(self) -> None:
        """Pass on the rest, once nobody can write any more."""
        while self.is_open and self.read():
            pass

    def _pass_on(self, chunk: bytes) -> None:
        self.head += chunk[: _HEAD - len(self.head)]
        if len(chunk) > self._left:
            self.is_over_cap = True
        allowed, self._left = chunk[: self._left], max(0, self._left - len(chunk))
        if allowed:
            self._sink(self.stream, allowed)
