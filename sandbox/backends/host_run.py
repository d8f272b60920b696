"""One command run on the host itself, below a parent that leaves nothing of it alive: see `process/host_init.py`."""

import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends.cuts import Asked, Cut, Cuts, late_cut
from sandbox.errors import SandboxError, SandboxUnhealthyError
from sandbox.process.pipes import memory, owned_pipe, pipe
from sandbox.process.reports import Report
from sandbox.process.waiting import is_waited_for
from sandbox.spec import Limits, Sink, Stream
from sandbox.streams import Outlet, over_cap

_HOST_INIT = Path(__file__).resolve().parent.parent / "process" / "host_init.py"
_DEATH_S = 5.0


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

    cut: Cut | None
    report: list[str]
    over_cap: tuple[Stream, ...]

    @property
    def cpu_s(self) -> float | None:
        """Give what the kernel accounted to all that were waited for."""
        return int(self.report[2]) / 1e6 if len(self.report) > 2 else None  # noqa: PLR2004 (the last of three words)


def run_on_host(order: HostOrder, owner: tuple[int, int], sink: Sink, stop: Callable[[], bool]) -> HostEnd:
    """Run `order` as `owner` and wait until all of it is dead. Raises SandboxUnhealthyError when it isn't after 5 s."""
    with ExitStack() as stack:
        running = _Running(stack, order, owner, sink)
        try:
            cut = running.until_end(stop)
        finally:
            # Whatever the sink or `stop` raised: nothing lives on.
            running.end()
        return running.told(cut)


class _Running:
    """The started parent, its outputs, its report and its lifeline."""

    def __init__(self, stack: ExitStack, order: HostOrder, owner: tuple[int, int], sink: Sink) -> None:
        self._limits = order.limits
        with ExitStack() as theirs:
            stdout, stderr = (owned_pipe(stack, theirs, owner) for _ in range(2))
            report = pipe(stack, theirs)
            alive, self._lifeline = os.pipe2(os.O_CLOEXEC)
            theirs.callback(os.close, alive)
            stack.callback(self._let_go)
            stdin = memory(theirs, "stdin", order.stdin)
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

    def until_end(self, stop: Callable[[], bool]) -> Cut | None:
        """Wait until the report's pipe is closed, which is when all is dead, or until there is a reason to end it."""
        cuts = Cuts(self._limits, self._outlets, Asked(stop))
        poll = select.poll()
        for fd in (self._report.fd, *(outlet.fd for outlet in self._outlets)):
            poll.register(fd, select.POLLIN)
        while self._report.is_open:
            cut = cuts.due()
            if cut is not None:
                return cut
            self._hear(poll, cuts.rest_ms())
        return None

    def _hear(self, poll: select.poll, rest_ms: int) -> None:
        ready = [fd for fd, _ in poll.poll(rest_ms)]
        if self._report.fd in ready:
            self._report.read()
        for outlet in self._outlets:
            if outlet.fd in ready:
                outlet.read()
                if not outlet.is_open:
                    poll.unregister(outlet.fd)

    def end(self) -> None:
        """Let the parent end everything, and wait for it."""
        self._let_go()
        if not is_waited_for(self._started, _DEATH_S):
            self._started.kill()
            is_waited_for(self._started, _DEATH_S)
            raise SandboxUnhealthyError(
                f"what {self._started.pid} started on this host is not dead after {_DEATH_S:.0f} s; look for it"
            )

    def told(self, cut: Cut | None) -> HostEnd:
        """Hear the rest and tell what is known."""
        for outlet in self._outlets:
            outlet.drain()
        self._report.read()
        words = self._report.text.decode(errors="replace").split()
        return HostEnd(cut or late_cut(self._outlets), words, over_cap(self._outlets))

    def _let_go(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
