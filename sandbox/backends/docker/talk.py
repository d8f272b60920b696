"""The conversation with a container over its one socket: its input out, its two outputs in, its last word kept.

The engine puts both outputs on one line, each piece behind a head of eight bytes. Our init's last word comes on the
second output, behind the nonce that only it and we know, and never reaches the sink.
"""

import os
import secrets
import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from sandbox.spec import Stream
from sandbox.streams import Capped

_CHUNK = 65536
_HEAD = struct.Struct(">BxxxL")
_STREAMS = {1: Stream.STDOUT, 2: Stream.STDERR}
_NONCE_BYTES = 16


@dataclass(frozen=True, slots=True)
class LastWord:
    """What our init said about the command's end."""

    kind: str
    number: int
    cpu_s: float
    touched: tuple[str, ...] = ()
    """The limits that it saw reached."""


def opening(nonce: bytes, filter_: bytes, stdin: bytes) -> bytes:
    """Give what our init reads first: nonce, lengths, system-call filter, the command's input."""
    return b"%b%08x%016x%b%b" % (nonce, len(filter_), len(stdin), filter_, stdin)


def a_nonce() -> bytes:
    return secrets.token_hex(_NONCE_BYTES).encode()


class Ear:
    """The second output: everything up to the nonce is the guest's, everything after it our init's."""

    def __init__(self, nonce: bytes, capped: Capped) -> None:
        self._nonce, self._capped = nonce, capped
        self._held = b""
        self._word: bytes | None = None

    def hear(self, chunk: bytes) -> None:
        """Pass on what is the guest's, and hold back what could be the nonce's beginning."""
        if self._word is not None:
            self._word += chunk
            return
        before, found, after = (self._held + chunk).partition(self._nonce)
        if found:
            self._held, self._word = b"", after
        else:
            kept = _beginning(before, self._nonce)
            before, self._held = before[: len(before) - kept], before[len(before) - kept :]
        self._capped.pass_on(before)

    @property
    def has_last_word(self) -> bool:
        """Tell whether our init has said it: nobody else is alive in the container."""
        return self._word is not None and self._word.endswith(b"\n")

    def last_word(self) -> LastWord | None:
        """Give the init's last word at the end; what was held back for it in vain is passed on."""
        if self._word is None:
            self._capped.pass_on(self._held)
            self._held = b""
            return None
        match self._word.split():
            case [kind, number, cpu_us, *touched]:
                names = tuple(name.decode() for name in touched)
                return LastWord(kind.decode(), int(number), int(cpu_us) / 1e6, names)
            case _:
                return None


class Talk:
    """The socket, written and read without blocking."""

    def __init__(self, door: socket.socket, to_say: bytes, capped: Capped, ear: Ear) -> None:
        os.set_blocking(door.fileno(), False)
        self._door = door
        self._rest = memoryview(to_say)
        self._capped, self._ear = capped, ear
        self._buffer = bytearray()
        self.is_open = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._door.close()

    @property
    def fd(self) -> int:
        return self._door.fileno()

    @property
    def has_more_to_say(self) -> bool:
        return bool(self._rest)

    def say(self) -> None:
        """Write what the socket takes. It is shut down in `take_leave` alone: its end is the guest's."""
        try:
            self._rest = self._rest[os.write(self.fd, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._rest = self._rest[:0]

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more is to come but what is on its way."""
        return not self.is_open or self._ear.has_last_word

    def take_leave(self) -> None:
        """End the container's input, and with it our init."""
        with suppress(OSError):  # it is gone already
            self._door.shutdown(socket.SHUT_WR)
        self._rest = self._rest[:0]

    def cut(self) -> None:
        """Shut the socket, as the kernel does when we die."""
        self._door.shutdown(socket.SHUT_RDWR)

    def hear(self) -> bool:
        """Read one piece and pass it on; False when there is nothing more for now."""
        try:
            chunk = self._door.recv(_CHUNK)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            chunk = b""
        self.is_open = bool(chunk)
        self._buffer += chunk
        while len(self._buffer) >= _HEAD.size:
            number, size = _HEAD.unpack_from(self._buffer)
            if len(self._buffer) < _HEAD.size + size:
                break
            piece = bytes(self._buffer[_HEAD.size : _HEAD.size + size])
            del self._buffer[: _HEAD.size + size]
            self._pass_on(number, piece)
        return self.is_open

    def _pass_on(self, number: int, piece: bytes) -> None:
        match _STREAMS.get(number):
            case Stream.STDOUT:
                self._capped.pass_on(piece)
            case Stream.STDERR:
                self._ear.hear(piece)
            case None:
                return


def _beginning(text: bytes, nonce: bytes) -> int:
    """Tell how many of the last bytes of `text` could be the beginning of `nonce`."""
    most = min(len(text), len(nonce) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(nonce[:size])), 0)
