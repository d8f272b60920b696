"""Limits and death, shown by effect: each drill runs what must be held, and beside it what must not be."""

import fcntl
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError
from sandbox.spec import Bind, Exit, ExitKind, Limits, Probe, Sandbox, SandboxSpec, Sink

WITNESS = Path(__file__).with_name("witness.py").read_text()
LIMITS = Limits(
    wall_s=10.0,
    memory_bytes=1 << 30,
    processes=16,
    file_size_bytes=4 << 20,
    open_files=64,
    output_bytes=1 << 20,
    tmp_bytes=1 << 20,
)
_DEATH_S = 2.0
_SHARE = 0.1
_HELD_S = 0.15
"""What takes 0.03 s of a whole processor takes this long at least of a tenth of one, in slices of 0.1 s."""
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


def processors(backend: Sandbox) -> Probe:
    """Let a guest compute with a tenth of a processor, and with all that there is as the control."""
    if backend.facts()["limits"] == "rlimits only":
        return Probe("processor time", ok=True, detail=f"not held, rlimits only: {backend.facts()['no_cgroups']}")
    held, free = _burn(backend, _SHARE), _burn(backend, None)
    for _ in range(_TRIES - 1):
        if _is_held(held, free):
            break
        held, free = _burn(backend, _SHARE), _burn(backend, None)  # a busy machine slows the control down too
    detail = f"a tenth of a processor takes {held:.2f} s for what takes {free:.2f} s"
    return Probe("processor time", ok=_is_held(held, free), detail=detail, fix=REPORT)


def told(exit_: Exit) -> str:
    """Say in words how a drill ended."""
    last = next((str(one) for one in (exit_.limit, exit_.signal, exit_.code) if one is not None), "")
    return f"{exit_.kind} {last}".strip()


def _is_held(held: float, free: float) -> bool:
    return held >= _HELD_S and held >= 2 * free


def _burn(backend: Sandbox, cpus: float | None) -> float:
    said = bytearray()
    spec = witness_spec((), "burn")
    backend.run(replace(spec, limits=replace(LIMITS, cpus=cpus)), lambda _, chunk: said.extend(chunk), lambda: False)
    try:
        return float(said)
    except ValueError as error:
        raise SandboxError(f"the drill for processors printed {bytes(said)!r}") from error


def killing(backend: Sandbox, out: Path, binds: tuple[Bind, ...]) -> Probe:
    """Stop a tree of daemons that ignore signals; the lock that they hold tells when the last is dead."""
    lock, seen, held = out / "lock", bytearray(), []

    def is_ready() -> bool:
        if seen:
            held.append(_is_locked(lock))
        return bool(seen)

    before = time.monotonic()
    exit_ = backend.run(witness_spec(binds, "drill"), lambda _stream, chunk: seen.extend(chunk), is_ready)
    if exit_.kind is not ExitKind.STOPPED or held != [True]:
        return Probe("kill drill", ok=False, detail=f"the drill did not start: {told(exit_)}", fix=REPORT)
    took = time.monotonic() - before
    is_dead = not _is_locked(lock) and took < _DEATH_S
    return Probe("kill drill", ok=is_dead, detail=f"a tree of daemons was dead in {took:.2f} s", fix=REPORT)


def _is_locked(path: Path) -> bool:
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
