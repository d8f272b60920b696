"""One command run on the host itself, below a parent that leaves nothing of it alive: see `process/host_init.py`."""

import math
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.process.reports import Report
from sandbox.spec import ExitKind, Limits, Sink, Stream
from sandbox.streams import Outlet

_HOST_INIT = Path(__file__).resolve().parent.parent / "process" / "host_init.py"
_DEATH_S = 5.0
_ASK_S = 0.08
"""Stop is promised to be asked at least every 0.1 s."""


@dataclass(frozen=True, slots=True)
class HostOrder:
    """What to run, in the host's own paths."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: bytes
    limits: Limits


@dataclass(frozen=True, slots=True)
class HostEnd:
    """What is known once everything is dead."""

    cut: ExitKind | None
    limit: str | None
    report: list[str]
    over_cap: tuple[Stream, ...]

    @property
    def cpu_s(self) -> float | None:
        """Give what the kernel accounted to all that were waited for."""
        return int(self.report[2]) / 1e6 if len(self.report) > 2 else None  # noqa: PLR2004 (the last of three words)


def run_on_host(order: HostOrder, owner: tuple[int, int], sink: Sink, stop: Callable[[], bool]) -> HostEnd:
    """Run `order` as `owner` and wait until all of it is dead. Raises SandboxError when it isn't after 5 s."""
    with ExitStack() as stack:
        running = _Running(stack, order, owner, sink)
        try:
            cut = running.until_end(stop)
        finally:
            # Whatever the sink or `stop` raised: nothing lives on.
            running.end()
        return running.told(cut)


@dataclass(frozen=True, slots=True)
class _Cut:
    kind: ExitKind
    limit: str | None = None


class _Running:
    """The started parent, its outputs, its report and its lifeline."""

    def __init__(self, stack: ExitStack, order: HostOrder, owner: tuple[int, int], sink: Sink) -> None:
        self._limits = order.limits
        with ExitStack() as theirs:
            stdout, stderr = _out(stack, theirs, owner), _out(stack, theirs, owner)
            report = _pipe(stack, theirs)
            alive, self._lifeline = os.pipe2(os.O_CLOEXEC)
            theirs.callback(os.close, alive)
            stack.callback(self._let_go)
            stdin = _memory(theirs, order.stdin)
            limits = order.limits
            bounds = (*owner, limits.file_size_bytes, limits.open_files, limits.memory_bytes)
            words = (str(report.write), str(alive), *(str(bound) for bound in bounds), order.cwd, *order.argv)
            try:
                self._started = subprocess.Popen(  # noqa: S603 (our own script; the guest's words are its business)
                    (sys.executable, "-I", "-S", "-B", str(_HOST_INIT), *words),
                    env=dict(order.env),
                    cwd="/",
                    stdin=stdin,
                    stdout=stdout.write,
                    stderr=stderr.write,
                    pass_fds=(report.write, alive),
                    process_group=0,
                    umask=0o022,
                )
            except OSError as error:
                raise SandboxError(f"{sys.executable} could not be started: {error.strerror}") from error
        self._report = Report(report.read)
        self._outlets = (
            Outlet(stdout.read, Stream.STDOUT, sink, limits.output_bytes),
            Outlet(stderr.read, Stream.STDERR, sink, limits.output_bytes),
        )

    def until_end(self, stop: Callable[[], bool]) -> _Cut | None:
        """Wait until the report's pipe is closed, which is when all is dead, or until there is a reason to end it."""
        wall, ask = time.monotonic() + self._limits.wall_s, 0.0
        poll = select.poll()
        for fd in (self._report.fd, *(outlet.fd for outlet in self._outlets)):
            poll.register(fd, select.POLLIN)
        while self._report.is_open:
            now = time.monotonic()
            if self._is_over_cap:
                return _Cut(ExitKind.LIMIT, "output")
            if now >= wall:
                return _Cut(ExitKind.LIMIT, "wall")
            if now >= ask:
                ask = now + _ASK_S
                if stop():
                    return _Cut(ExitKind.STOPPED)
            self._hear(poll, max(0.0, min(wall, ask) - now))
        return None

    def _hear(self, poll: select.poll, rest_s: float) -> None:
        ready = [fd for fd, _ in poll.poll(math.ceil(rest_s * 1000))]
        if self._report.fd in ready:
            self._report.read()
        for outlet in self._outlets:
            if outlet.fd in ready:
                outlet.read()
                if not outlet.is_open:
                    poll.unregister(outlet.fd)

    @property
    def _is_over_cap(self) -> bool:
        return any(outlet.is_over_cap for outlet in self._outlets)

    def end(self) -> None:
        """Let the parent end everything, and wait for it."""
        self._let_go()
        try:
            self._started.wait(_DEATH_S)
        except subprocess.TimeoutExpired as error:
            self._started.kill()
            self._started.wait()
            raise SandboxError(
                f"what {self._started.pid} started on this host is not dead after {_DEATH_S:.0f} s; look for it"
            ) from error

    def told(self, cut: _Cut | None) -> HostEnd:
        """Hear the rest and tell what is known."""
        for outlet in self._outlets:
            outlet.drain()
        self._report.read()
        if cut is None and self._is_over_cap:
            cut = _Cut(ExitKind.LIMIT, "output")
        words = self._report.text.decode(errors="replace").split()
        over_cap = tuple(outlet.stream for outlet in self._outlets if outlet.is_over_cap)
        return HostEnd(cut.kind if cut else None, cut.limit if cut else None, words, over_cap)

    def _let_go(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1


@dataclass(frozen=True, slots=True)
class _Pipe:
    read: int
    write: int


def _pipe(ours: ExitStack, theirs: ExitStack) -> _Pipe:
    read, write = os.pipe2(os.O_CLOEXEC)
    ours.callback(os.close, read)
    theirs.callback(os.close, write)
    return _Pipe(read, write)


def _out(ours: ExitStack, theirs: ExitStack, owner: tuple[int, int]) -> _Pipe:
    pipe = _pipe(ours, theirs)
    os.fchown(pipe.write, *owner)  # so that the guest may open /dev/stdout, which the kernel checks
    return pipe


def _memory(theirs: ExitStack, content: bytes) -> int:
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC)
    theirs.callback(os.close, fd)
    with os.fdopen(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
