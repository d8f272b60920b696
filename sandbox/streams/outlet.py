"""One output stream of a guest, read without blocking and cut at its cap."""

import os

from sandbox.spec import Sink, Stream
from sandbox.streams.capped import Capped

_CHUNK = 65536
_HEAD = 4096


class Outlet(Capped):
    """The reading end of one stream; the sink gets at most `cap` bytes of it."""

    def __init__(self, fd: int, stream: Stream, sink: Sink, cap: int) -> None:
        super().__init__(stream, sink, cap)
        os.set_blocking(fd, False)
        self.fd = fd
        self.head = b""
        """The first few kilobytes, for a message about a start that failed."""
        self.is_open = True

    def read(self) -> bool:
        """Pass on what is there now, one chunk; False when there is nothing more for now."""
        try:
            chunk = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.is_open = False
            return False
        self.head += chunk[: _HEAD - len(self.head)]
        self.pass_on(chunk)
        return True

    def drain(self) -> None:
        """Pass on the rest, once nobody can write any more."""
        while self.is_open and self.read():
            pass
