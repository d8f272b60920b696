"""The rooms beside a session: further sandboxes, without its door, that run what the session hands over.

What kind of sandbox that is, a backend says by `Start`. A room shares the session's binds and one socket, which the
host makes: the session gets it as a read-only bind, the room as a descriptor. Nobody of ours stands between them, so a
command costs a fork, not a sandbox. A tool room runs commands as the session would; a server room is sealed: to it all
is read-only, and the environment is its own.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from sandbox.backends import refusals
from sandbox.door import listening
from sandbox.errors import SandboxError
from sandbox.limits import Group, Usage
from sandbox.spec import SERVER, TMP, TOOL, Bind, Exit, ExitKind, SandboxSpec

_END = bytes(8)
"""An order of no bytes, as `native/tool.h` says."""
_END_S = 0.25


class Room(Protocol):
    """A sandbox that was started to be a room."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """Give what holds it to its limits, where that can be asked."""
        ...

    def has_ended(self) -> bool:
        """Tell whether it has ended by itself."""
        ...

    def end(self) -> Usage:
        """End it and tell what it used; nobody in it lives after that."""
        ...

    def ensure_stood(self) -> None:
        """Raise SandboxError when it, ended by now, never served."""
        ...

    def close(self) -> None:
        """Let go of it, once it has been ended."""
        ...


Start = Callable[[SandboxSpec, socket.socket, Path], Room]
"""Starts a sandbox that is to serve a listener, and may listen itself beside the place where that one does."""


@dataclass(slots=True)
class Both:
    """A session's spec with what it needs of its rooms; how it ended; what each room has used, once it is over."""

    session: SandboxSpec
    groups: tuple[Group, ...] = ()
    """The rooms'."""
    ended: Exit | None = None
    used: tuple[Usage, ...] = ()

    def whole(self) -> Exit:
        """Give the session's end with the rooms': what runs out in a room ends as if there were none."""
        if self.ended is None:
            raise SandboxError("a session whose end was not kept")
        touched = [limit for one in self.used for limit in one.touched]
        exit_ = replace(
            self.ended,
            cpu_s=None if self.ended.cpu_s is None else self.ended.cpu_s + sum(one.cpu_s or 0.0 for one in self.used),
            peak_memory_bytes=_most(self.ended.peak_memory_bytes, *(one.peak_memory_bytes for one in self.used)),
            peak_processes=_most(self.ended.peak_processes, *(one.peak_processes for one in self.used)),
            limits_touched=tuple(dict.fromkeys((*self.ended.limits_touched, *touched))),
        )
        if self.is_cut or "memory" not in touched:
            return exit_
        return replace(exit_, kind=ExitKind.LIMIT, limit="memory", code=None, signal=None)

    @property
    def is_cut(self) -> bool:
        """Tell whether the session was killed, or broke: then its rooms are killed as well."""
        return self.ended is None or self.ended.kind in {ExitKind.LIMIT, ExitKind.STOPPED}


def _most(*peaks: int | None) -> int | None:
    return max((one for one in peaks if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One room to run: where it listens, by what name a session enters it, whether it is sealed."""

    socket: Path
    entry: str
    is_sealed: bool


@contextmanager
def beside(spec: SandboxSpec, program: Path, owner: tuple[int, int], start: Start) -> Iterator[Both]:
    """Run the rooms that `spec` asks for, if any, for the length of the block; they are dead after that, all of them.

    Raises SandboxError when a room never stood.
    """
    refusals.refuse_entries(spec)
    rooms = _rooms(spec)
    if not rooms:
        yield Both(spec)
        return
    refusals.refuse_unsafe(spec)
    both = Both(replace(spec, tools=None, servers=None))
    with ExitStack() as cleared:
        for room in rooms:
            refusals.refuse_place("room", room.socket)
            listener = cleared.enter_context(listening(room.socket, owner))
            entry = (Bind(program, room.entry), Bind(room.socket, f"/run/{room.entry.removeprefix('/')}.sock"))
            both.session = replace(both.session, binds=(*both.session.binds, *entry))
            started = start(_inside(spec, room, entry[0]), listener, room.socket)
            cleared.enter_context(_living(started, room.socket, both))
            # The room's alone: once it is gone, callers are refused instead of waiting.
            listener.close()
        refusals.refuse_unsafe(both.session)
        yield both


def _rooms(spec: SandboxSpec) -> tuple[_Wanted, ...]:
    tools = () if spec.tools is None else (_Wanted(spec.tools.socket, TOOL, is_sealed=False),)
    servers = () if spec.servers is None else (_Wanted(spec.servers.socket, SERVER, is_sealed=True),)
    return (*tools, *servers)


@contextmanager
def _living(room: Room, place: Path, both: Both) -> Iterator[None]:
    try:
        both.groups += room.groups
        try:
            yield
        finally:
            fell = room.has_ended()
            if not both.is_cut:
                _bid_end(place, room)
            used = room.end()
        both.used += (used,)
        if fell:
            room.ensure_stood()
    finally:
        room.close()


def _bid_end(place: Path, room: Room) -> None:
    """Ask the room to end by itself: the processor time of what is killed from outside is lost."""
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX) as caller, suppress(OSError):
            caller.settimeout(_END_S)
            caller.connect(f"/proc/self/fd/{folder}/{place.name}")
            caller.sendall(_END)
    finally:
        os.close(folder)
    deadline = time.monotonic() + _END_S
    while not room.has_ended() and time.monotonic() < deadline:
        time.sleep(0.001)


def _inside(spec: SandboxSpec, room: _Wanted, entry: Bind) -> SandboxSpec:
    shared = (bind for bind in spec.binds if not _is_the_sessions_own(bind, spec))
    binds = (replace(bind, writable=bind.writable and not room.is_sealed) for bind in shared)
    return replace(
        spec,
        argv=(room.entry, "--serve-sealed" if room.is_sealed else "--serve"),
        cwd="/",
        binds=(*binds, entry),
        env={} if room.is_sealed else spec.env,
        # The server is one of the processes that the kernel counts.
        limits=replace(spec.limits, processes=spec.limits.processes + 1),
        door=None,
        tools=None,
        servers=None,
        scratch=() if room.is_sealed else spec.scratch,
        stdin=b"",
    )


def _is_the_sessions_own(bind: Bind, spec: SandboxSpec) -> bool:
    return bind.target == TMP or _holds(bind.target, spec.home)


def _holds(target: str, home: str) -> bool:
    return home == target or home.startswith(f"{target}/") or target.startswith(f"{home}/")
