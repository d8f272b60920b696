"""The tool room: a second sandbox, beside the session's and without its door, that runs what the session hands over.

The two share the binds and one socket, which the host makes: the session gets it as a read-only bind, the room as a
descriptor. Nobody of ours stands between them, so a command costs a fork, not a sandbox.
"""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.backends import failures, refusals
from sandbox.door import listening
from sandbox.errors import SandboxError
from sandbox.limits import Group, Usage
from sandbox.process.launch import Running
from sandbox.process.tree import Ending
from sandbox.spec import TMP, TOOL, Bind, Exit, ExitKind, SandboxSpec, Stream
from sandbox.streams import Outlet

_SOCKET = "/run/tools.sock"
_HEAD_BYTES = 4096
_END = bytes(8)
"""An order of no bytes, as `native/tool.h` says."""
_END_S = 0.25
_NOTHING = Usage(None, None, None, ())


@dataclass(frozen=True, slots=True)
class Started:
    """A sandbox that was started, and what holds it to its limits."""

    running: Running
    group: Group | None


@dataclass(slots=True)
class Both:
    """A session's spec with what it needs of its room; how it ended; what the room has used, once it is over."""

    session: SandboxSpec
    groups: tuple[Group, ...] = ()
    """The room's."""
    ended: Exit | None = None
    used: Usage = _NOTHING

    def whole(self) -> Exit:
        """Give the session's end with the room's: what runs out in the room ends as if there were none."""
        if self.ended is None:
            raise SandboxError("a session whose end was not kept")
        exit_ = replace(
            self.ended,
            cpu_s=None if self.ended.cpu_s is None else self.ended.cpu_s + (self.used.cpu_s or 0.0),
            peak_memory_bytes=_most(self.ended.peak_memory_bytes, self.used.peak_memory_bytes),
            peak_processes=_most(self.ended.peak_processes, self.used.peak_processes),
            limits_touched=tuple(dict.fromkeys((*self.ended.limits_touched, *self.used.touched))),
        )
        if self.is_cut or "memory" not in self.used.touched:
            return exit_
        return replace(exit_, kind=ExitKind.LIMIT, limit="memory", code=None, signal=None)

    @property
    def is_cut(self) -> bool:
        """Tell whether the session was killed, or broke: then its room is killed as well."""
        return self.ended is None or self.ended.kind in {ExitKind.LIMIT, ExitKind.STOPPED}


def _most(*peaks: int | None) -> int | None:
    return max((one for one in peaks if one is not None), default=None)


@contextmanager
def beside(
    spec: SandboxSpec, program: Path, owner: tuple[int, int], start: Callable[[SandboxSpec, int], Started]
) -> Iterator[Both]:
    """Run the room that `spec` asks for, if it does, for the length of the block; it is dead after that, all of it.

    `start` starts a sandbox with a descriptor as its standard input. Raises SandboxError when the room never stood.
    """
    if spec.tools is None:
        yield Both(spec)
        return
    refusals.refuse_unsafe(spec)
    refusals.refuse_place("tool room", spec.tools.socket)
    tool = Bind(program, TOOL)
    with ExitStack() as cleared:
        listener = cleared.enter_context(listening(spec.tools.socket, owner))
        both = Both(replace(spec, tools=None, binds=(*spec.binds, tool, Bind(spec.tools.socket, _SOCKET))))
        refusals.refuse_unsafe(both.session)
        started = start(_room(spec, tool), listener.fileno())
        room = started.running
        cleared.callback(room.close)
        both.groups = () if started.group is None else (started.group,)
        # The room's alone: once it is gone, callers are refused instead of waiting.
        listener.close()
        try:
            yield both
        finally:
            fell = _has_ended(room)
            if not both.is_cut:
                _bid_end(spec.tools.socket, room)
            ending = room.tree.end()
        both.used = replace(_NOTHING, cpu_s=ending.cpu_s) if started.group is None else started.group.usage()
        if fell:
            _ensure_stood(room, ending)


def _bid_end(place: Path, room: Running) -> None:
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
    while not _has_ended(room) and time.monotonic() < deadline:
        time.sleep(0.001)


def _has_ended(room: Running) -> bool:
    room.tree.observe()
    return room.tree.has_ended()


def _room(spec: SandboxSpec, tool: Bind) -> SandboxSpec:
    return replace(
        spec,
        argv=(TOOL, "--serve"),
        cwd="/",
        binds=(*(bind for bind in spec.binds if not _is_the_sessions_own(bind, spec)), tool),
        # The server is one of the processes that the kernel counts.
        limits=replace(spec.limits, processes=spec.limits.processes + 1),
        door=None,
        tools=None,
        stdin=b"",
    )


def _is_the_sessions_own(bind: Bind, spec: SandboxSpec) -> bool:
    return bind.target == TMP or _holds(bind.target, spec.home)


def _holds(target: str, home: str) -> bool:
    return home == target or home.startswith(f"{target}/") or target.startswith(f"{home}/")


def _ensure_stood(room: Running, ending: Ending) -> None:
    if ending.report.startswith("started"):
        return
    stderr = Outlet(room.stderr, Stream.STDERR, lambda _stream, _chunk: None, _HEAD_BYTES)
    stderr.drain()
    raise SandboxError(f"the tool room: {failures.explain(stderr.head.decode(errors='replace'))}")
