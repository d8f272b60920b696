"""Limits and death, shown by effect: each drill runs what must be held, and beside it what must not be."""

import fcntl
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from sandbox.backends.verdicts import REPORT, judged
from sandbox.errors import SandboxError
from sandbox.spec import Bind, Exit, ExitKind, Limits, Probe, Sandbox, SandboxSpec, Sink

WITNESS = Path(__file__).with_name("witness.py").read_text()
LIMITS = Limits(
    wall_s=30.0,
    memory_bytes=1 << 30,
    processes=16,
    file_size_bytes=4 << 20,
    open_files=64,
    output_bytes=1 << 20,
    tmp_bytes=1 << 20,
)
NOT_HELD = "not held"
_WALL_S = 0.03
_ASLEEP_S = 5
_DEATH_S = 2.0
_SLOW = "processes die slowly here: look again when this machine has less to do, else for processes in state D"
_TRIES = 3


class Unfiltered(Sandbox, Protocol):
    """A backend that can also be looked at without its system-call filter."""

    def run_unfiltered(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run without the filter."""
        ...


def system_python() -> str:
    """Give a Python that is under /usr and so is there inside as well."""
    candidates = (Path(sys.executable).resolve(), Path("/usr/bin/python3"), Path("/usr/local/bin/python3"))
    found = next((path for path in candidates if path.is_relative_to("/usr") and path.exists()), None)
    if found is None:
        raise SandboxError("preflight needs a Python below /usr to run inside: apt-get install python3-minimal")
    return str(found)


def witness_spec(binds: tuple[Bind, ...], *words: str) -> SandboxSpec:
    """Give the spec of a witness that is told `words`."""
    argv = (system_python(), "-I", "-S", "-B", "-c", WITNESS, *words)
    return SandboxSpec(argv=argv, binds=binds, limits=LIMITS, cwd="/")


def memory(backend: Sandbox) -> Probe:
    """Let a guest take twice the memory that it may have, and half of it as the control."""
    limit = 64 << 20
    ends = []
    for share in (0.5, 2.0):
        argv = (system_python(), "-I", "-S", "-B", "-c", f"bytearray({int(limit * share)})")
        limits = replace(LIMITS, memory_bytes=limit)
        spec = SandboxSpec(argv=argv, binds=(), limits=limits, cwd="/")
        exit_ = backend.run(spec, lambda _stream, _chunk: None, lambda: False)
        ends.append(exit_.kind is ExitKind.EXITED and exit_.code == 0)
    held = f"{limit >> 20} MiB held, by {backend.facts()['limits']}"
    return Probe(
        "memory", ok=ends == [True, False], detail=held if ends[0] else "not even half could be had", fix=REPORT
    )


_QUEUE = """
import socket
door = socket.create_server(("127.0.0.1", 0))
ends, queued = [], 0
while queued < %d and len(ends) < 48:
    caller = socket.create_connection(door.getsockname())
    ends += [caller, door.accept()[0]]
    for end in ends[-2:]:
        end.setblocking(False)
        try:
            while queued < %d:
                queued += end.send(bytes(65536))
        except BlockingIOError:
            pass
print(queued)
"""


def sockets(backend: Sandbox) -> Probe:
    """Let a guest leave more waiting in its sockets than the memory that it may have."""
    by = str(backend.facts()["socket_memory"])
    if by == NOT_HELD:
        return Probe("memory in sockets", ok=True, detail=f"{by}: this kernel, or the lack of control groups")
    limit, heard = 32 << 20, bytearray()
    argv = (system_python(), "-I", "-S", "-B", "-c", _QUEUE % (2 * limit, 2 * limit))
    spec = SandboxSpec(argv=argv, binds=(), limits=replace(LIMITS, memory_bytes=limit), cwd="/")
    exit_ = backend.run(spec, lambda _stream, chunk: heard.extend(chunk), lambda: False)
    # Version 2 may end the guest for it, and an empty queue would be a blind drill.
    queued = int(heard) if heard.strip().isdigit() else 0
    is_held = exit_.limit == "memory" or 0 < queued <= limit
    detail = f"{queued >> 20} MiB took of {2 * limit >> 20}, where {limit >> 20} may be had"
    return Probe("memory in sockets", ok=is_held, detail=detail, fix="boot without cgroup.memory=nosocket")


def wall(backend: Sandbox) -> Probe:
    """Let a guest sleep long under a short wall time, and for twice that wall time under a long one as the control."""
    ends = []
    for sleep_s, wall_s in ((_ASLEEP_S, _WALL_S), (2 * _WALL_S, LIMITS.wall_s)):
        argv, limits = ("/bin/sh", "-c", f"sleep {sleep_s}"), replace(LIMITS, wall_s=wall_s)
        spec = SandboxSpec(argv=argv, binds=(), limits=limits, cwd="/")
        ends.append(told(backend.run(spec, lambda _stream, _chunk: None, lambda: False)))
    return judged("wall", ends, ["limit wall", "exited 0"], f"held at {_WALL_S} s; the control slept twice that long")


def told(exit_: Exit) -> str:
    """Say in words how a drill ended."""
    last = next((str(one) for one in (exit_.limit, exit_.signal, exit_.code) if one is not None), "")
    return f"{exit_.kind} {last}".strip()


def killing(backend: Sandbox, out: Path, binds: tuple[Bind, ...], within_s: float = _DEATH_S) -> Probe:
    """Stop a tree of daemons that ignore signals; the lock that they hold tells when the last is dead.

    Survivors fail it at once. A death that is only slow is tried again: a busy machine is slow now and then.
    """
    death, tries = _death(backend, out / "lock", binds), 1
    while death.is_whole and death.took_s >= within_s and tries < _TRIES:
        death, tries = _death(backend, out / "lock", binds), tries + 1
    if not death.is_whole:
        return Probe("kill drill", ok=False, detail=death.told, fix=REPORT)
    detail = f"a tree of daemons was dead in {death.took_s:.2f} s"
    return Probe("kill drill", ok=death.took_s < within_s, detail=detail, fix=_SLOW)


@dataclass(frozen=True, slots=True)
class _Death:
    """How a tree of daemons was ended."""

    is_whole: bool
    """Whether it stood, and nobody of it stands."""
    told: str
    took_s: float
    """From when it was to end."""


def _death(backend: Sandbox, lock: Path, binds: tuple[Bind, ...]) -> _Death:
    seen, asked = bytearray(), []

    def is_to_end() -> bool:
        if seen and is_locked(lock):
            asked.append(time.monotonic())
        return bool(seen)

    exit_ = backend.run(witness_spec(binds, "drill"), lambda _stream, chunk: seen.extend(chunk), is_to_end)
    if exit_.kind is not ExitKind.STOPPED or not asked:
        return _Death(is_whole=False, told=f"the drill did not start: {told(exit_)}", took_s=0.0)
    took_s = time.monotonic() - asked[0]
    return _Death(is_whole=not is_locked(lock), told="a tree of daemons outlives its run", took_s=took_s)


def is_locked(path: Path) -> bool:
    """Tell whether somebody holds the lock of a drill."""
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
