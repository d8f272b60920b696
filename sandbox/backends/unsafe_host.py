"""The backend that contains nothing: the command runs on the host, with what its user may do there.

It is for looking at what a trusted program does, and never for a number that decides anything, so it has to be allowed
by name and is refused where CI is set. What it keeps of the protocol is the reporting, the limits and the death of the
whole tree. Nothing is mounted: the spec's places are the binds' own sources, put in the place of their targets wherever
these are written in argv, environment, working directory and home.
"""

import os
import platform
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.backends import refusals, slots, workroot
from sandbox.backends.cuts import by_signal
from sandbox.backends.host_run import HostEnd, HostOrder, run_on_host
from sandbox.backends.plan import DEFAULT_ENV, is_home_bound, is_tmp_bound
from sandbox.errors import SandboxCommandError, SandboxError, SandboxRefusedError, SandboxUnavailableError
from sandbox.spec import TMP, Exit, ExitKind, Facts, Limits, Probe, SandboxSpec, Sink

_PROBE_LIMITS = Limits(
    wall_s=10.0,
    memory_bytes=1 << 30,
    processes=16,
    file_size_bytes=1 << 20,
    open_files=64,
    output_bytes=1 << 16,
    tmp_bytes=1 << 20,
)


class UnsafeHost:
    """Runs specs on the host itself. `root` is the work root, as other backends have it."""

    images = None

    def __init__(self, root: Path, *, is_allowed: bool = False, is_ci: bool = False) -> None:
        """Make ready. Raises SandboxUnavailableError unless it was allowed by name, and always where CI is set."""
        if is_ci:
            raise SandboxUnavailableError("the sandbox unsafe-host contains nothing and is refused where CI is set")
        if not is_allowed:
            raise SandboxUnavailableError(
                "the sandbox unsafe-host contains nothing: FARM_ALLOW_UNSAFE_HOST=yes says that you want that"
            )
        self._root = workroot.ready(root)
        self._drops = os.geteuid() == 0

    def run(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run `spec` to its end, as `Sandbox.run` says of everything but containment."""
        if spec.door is not None or spec.tools is not None or spec.servers is not None:
            raise SandboxRefusedError("the sandbox unsafe-host has no door and no rooms: use bubblewrap for these")
        if spec.scratch:
            raise SandboxRefusedError("the sandbox unsafe-host mounts nothing, and no scratch: use bubblewrap for it")
        refusals.refuse_image(spec, "unsafe-host")
        refusals.refuse_entries(spec)
        refusals.refuse_unsafe(spec)
        started = time.monotonic()
        owner = self.owner(spec.slot)
        with _places(self._root, owner) as places:
            end = run_on_host(_placed(spec, places), owner, sink, stop)
        return replace(_exit_of(spec, end, time.monotonic() - started), cut=end.over_cap)

    def facts(self) -> Facts:
        """Say that nothing is contained."""
        return {
            "backend": "unsafe-host",
            "containment": "none",
            "uids": "one per slot" if self._drops else "the worker's own",
            "limits": "rlimits only; no limit on processes or processors",
            "memory": "per process, by RLIMIT_DATA",
            "kernel": platform.release(),
        }

    def owner(self, slot: int) -> tuple[int, int]:
        """Give the host uid and gid that run `slot`: its own, or the worker's where the worker isn't root."""
        return slots.owner(slot, drops=self._drops)

    def close(self) -> None:
        """Nothing is kept between runs."""

    def preflight(self, scratch: Path) -> tuple[Probe, ...]:
        """Run something, and say that nothing is proven: there is no containment to prove."""
        del scratch
        spec = SandboxSpec(argv=("/bin/true",), binds=(), limits=_PROBE_LIMITS, cwd="/")
        try:
            exit_ = self.run(spec, lambda _stream, _chunk: None, lambda: False)
        except SandboxError as error:
            return (Probe("starts", ok=False, detail=str(error), fix="do what the message says, then look again"),)
        detail = "nothing is contained: allowed by FARM_ALLOW_UNSAFE_HOST"
        return (Probe("starts", ok=exit_.code == 0, detail=detail, fix="/bin/true could not be run"),)


@dataclass(frozen=True, slots=True)
class _Places:
    """What stands for the guest's private folders."""

    home: Path
    tmp: Path


@contextmanager
def _places(root: Path, owner: tuple[int, int]) -> Iterator[_Places]:
    with ExitStack() as stack:
        made = [Path(stack.enter_context(tempfile.TemporaryDirectory(dir=root, prefix="host-"))) for _ in range(2)]
        for place in made:
            os.chown(place, *owner)
        yield _Places(*made)


def _placed(spec: SandboxSpec, places: _Places) -> HostOrder:
    sources = {bind.target: str(bind.source) for bind in spec.binds}
    here = _Rewriting(sources if is_home_bound(spec) else {**sources, spec.home: str(places.home)})
    tmp = TMP if is_tmp_bound(spec) else str(places.tmp)
    env = {**DEFAULT_ENV, "TMPDIR": tmp, "HOME": spec.home, **spec.env}
    moved = replace(
        spec,
        argv=tuple(here.rewritten(word) for word in spec.argv),
        env={key: here.rewritten(value) for key, value in env.items()},
        cwd=here.rewritten(spec.cwd),
    )
    return HostOrder(moved.argv, moved.env, moved.cwd, spec.stdin, spec.limits)


class _Rewriting:
    """Puts sources in the place of targets, where a target stands as a path or at the beginning of one."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        ordered = sorted(sources, key=len, reverse=True)
        found = "|".join(re.escape(target) for target in ordered) or r"(?!)"
        self._pattern = re.compile(rf"(?<![\w./-])(?:{found})(?![\w.-])")

    def rewritten(self, text: str) -> str:
        """Give `text` with every target replaced."""
        return self._pattern.sub(lambda match: self._sources[match[0]], text)


def _exit_of(spec: SandboxSpec, end: HostEnd, wall_s: float) -> Exit:
    if end.cut is not None:
        return Exit(kind=end.cut.kind, limit=end.cut.limit, wall_s=wall_s, cpu_s=end.cpu_s)
    match end.report:
        case ["exited", code, _]:
            return Exit(kind=ExitKind.EXITED, code=int(code), wall_s=wall_s, cpu_s=end.cpu_s)
        case ["signaled", number, _]:
            return by_signal(int(number), wall_s, end.cpu_s)
        case ["exec", number, _]:
            raise SandboxCommandError(f"{spec.argv[0]!r} could not be executed: {os.strerror(int(number))}")
        case ["chdir", number, _]:
            raise SandboxError(f"working directory {spec.cwd!r} can't be entered: {os.strerror(int(number))}")
        case _:
            raise SandboxError(f"{spec.argv[0]!r} could not be started, or its parent was killed: {end.report}")
