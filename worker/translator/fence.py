"""What LiteLLM may reach: unix sockets and its own installation, nothing else of this host.

It fetches and reads what a request's content names, and what it likes itself; the guest writes the requests. So the
process can't, whoever in it tries: Python asks these two before it connects and before it opens.
"""

import mimetypes
import os
import socket
import sys
from pathlib import Path

_ASKS_NAMES = {"socket.getaddrinfo", "socket.gethostbyname"}
_CONNECTS = {"socket.connect", "socket.sendto"}


def close_the_network() -> None:
    """From now on, raise PermissionError in whoever connects this process by anything but a unix socket."""

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event in _ASKS_NAMES:
            raise PermissionError(f"the translator asks for no address: {arguments[0]!r}")
        if event in _CONNECTS and not _is_unix(arguments[0]):
            raise PermissionError(f"the translator connects to its doors alone: {arguments[1]!r}")

    sys.addaudithook(refuse)


def close_the_files() -> None:
    """From now on, raise PermissionError in whoever opens a file outside the installation, to read or to write."""
    mimetypes.init()  # it reads a file of the system's, once
    own = tuple(os.path.join(os.path.realpath(place), "") for place in {*filter(None, sys.path), sys.base_prefix})  # noqa: PTH118 (compared as text)

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event != "open":
            return
        path, flags = arguments[0], arguments[2]
        if isinstance(path, str | bytes | Path) and not _is_only_named(flags):
            real = os.path.realpath(os.fsdecode(path))
            if not real.startswith(own):
                raise PermissionError(f"the translator opens no file of this host: {real!r}")

    sys.addaudithook(refuse)


def _is_unix(end: object) -> bool:
    return isinstance(end, socket.socket) and end.family == socket.AF_UNIX


def _is_only_named(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & os.O_PATH)
