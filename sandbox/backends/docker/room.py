"""A container that was started to be a room: see `sandbox.backends.tool_rooms`.

No descriptor can be given to a container at its start. So its server calls a desk of ours, a socket that is bound into
the room alone and gone once it has answered, and is handed the listener there.
"""

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.backends.docker.container import Json
from sandbox.backends.docker.engine import Engine
from sandbox.backends.docker.life import Life, Order
from sandbox.door import listening
from sandbox.errors import SandboxError
from sandbox.limits import Group, Usage
from sandbox.spec import Bind, SandboxSpec, Stream

_DESK = "/run/.desk.sock"
_STANDS_S = 30.0
_LOOK_MS = 5


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a room's server, and nobody else, gets what listener."""

    place: Path
    owner: tuple[int, int]
    listener: socket.socket


class ContainerRoom:
    """A container whose server has the listener."""

    def __init__(self, life: Life, left: ExitStack) -> None:
        self._life = life
        self._left = left

    @property
    def groups(self) -> tuple[Group, ...]:
        """Give the container's group, if we can see it."""
        return self._life.groups

    def has_ended(self) -> bool:
        """Look whether it has ended by itself."""
        self._life.hear()
        return self._life.is_over

    def end(self) -> Usage:
        """End it and remove the container."""
        usage = self._life.end().usage
        self._left.close()
        return usage

    def ensure_stood(self) -> None:
        """Have nothing to do: it stood when it called for the listener."""

    def close(self) -> None:
        """Remove the container, if that has not been done."""
        self._left.close()


def open_room(engine: Engine, order: Order, body: Callable[[SandboxSpec], Json], desk: Desk) -> ContainerRoom:
    """Start a room and hand it its listener. Raises SandboxError when it never calls for it."""
    heard = bytearray()

    def keep(_stream: Stream, chunk: bytes) -> None:
        heard.extend(chunk)

    with ExitStack() as left, listening(desk.place, desk.owner) as door:
        spec = order.spec
        spec = replace(spec, argv=(*spec.argv, _DESK), binds=(*spec.binds, Bind(desk.place, _DESK)))
        life = Life(engine, body(spec), replace(order, spec=spec, sink=keep), left)
        if not _is_handed(desk.listener, door, life):
            end = life.end()
            said = heard.decode(errors="replace").strip() or f"{end.word} {end.message}"
            raise SandboxError(f"the room beside the session never stood: {said}")
        return ContainerRoom(life, left.pop_all())


def _is_handed(listener: socket.socket, door: socket.socket, life: Life) -> bool:
    door.settimeout(0)
    deadline = time.monotonic() + _STANDS_S
    while not life.is_over and time.monotonic() < deadline:
        try:
            caller, _ = door.accept()
        except BlockingIOError:
            life.hear(_LOOK_MS)
            continue
        with caller:
            socket.send_fds(caller, [b"."], [listener.fileno()])
        return True
    return False
