"""One started sandbox: what may be signalled, what has been reported, and the proof that all of it is dead.

Bubblewrap names its child before the child may go on, so as long as no child is named nothing of the guest runs; and
it says `exit-code` only after it has waited for the child, whose death takes the PID namespace with it. Where it can't
say so (it was killed), a pidfd of the child tells the same. A bare pid is never signalled: it may be somebody else's.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.process.reports import Report, Status

_DEATH_S = 5.0
_NAMED_S = 2.0
_REAPED_S = 1.0
_PATIENCE_S = 0.05


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known once everything is dead."""

    report: str
    """The init's lines."""
    cpu_s: float


class Tree:
    """Bubblewrap and everything below it."""

    def __init__(self, started: subprocess.Popen[bytes], status: Status, report: Report) -> None:
        self._started = started
        self.pidfd = os.pidfd_open(started.pid)
        self.status = status
        self.report = report
        self._init: _Held | None = None
        self._ending: Ending | None = None

    def observe(self) -> None:
        """Read what has been reported; get hold of the namespace's init as soon as it is named."""
        self.status.read()
        self.report.read()
        if self._init is None:
            child = self.status.child()
            if child is not None and not self.status.has_exit_code():
                self._init = _hold(child.pid, child.pid_namespace)

    def has_ended(self) -> bool:
        """Tell whether bubblewrap is gone; what it left is `end`'s to find out."""
        return _is_readable(self.pidfd, 0)

    def end(self) -> Ending:
        """Kill what is alive, wait until all is dead, and tell what is known. Raises SandboxError after 5 s."""
        if self._ending is None:
            self._ending = self._end()
        return self._ending

    def close(self) -> None:
        """Let go of the descriptors. Only after `end`."""
        for fd in (self.pidfd, self.status.fd, self.report.fd):
            os.close(fd)
        if self._init is not None:
            os.close(self._init.pidfd)

    def _end(self) -> Ending:
        deadline = time.monotonic() + _DEATH_S
        self._learn_of_init()
        self._kill_namespace(deadline)
        # Bubblewrap sees its child die and ends by itself, with the whole tree's CPU time on its account.
        if not _is_readable(self.pidfd, 0 if self._init is None else _REAPED_S):
            # Not reaped yet, so the number is still bubblewrap's.
            os.killpg(self._started.pid, signal.SIGKILL)
        if not _is_readable(self.pidfd, deadline - time.monotonic()):
            raise self._unhealthy("bubblewrap")
        _, code, usage = os.wait4(self._started.pid, 0)
        self._started.returncode = os.waitstatus_to_exitcode(code)
        self.observe()
        self._prove_death(deadline)
        return Ending(
            report=self.report.text.decode(errors="replace"),
            cpu_s=usage.ru_utime + usage.ru_stime,
        )

    def _kill_namespace(self, deadline: float) -> None:
        """Kill the init, and with it all; where it does not get to dying, kill the others one by one.

        A guest with hundreds of busy sessions of its own leaves the init so small a share of the processors that it
        was seen not to die within 5 s of its SIGKILL. Each one that dies gives its share back.
        """
        if self._init is None or self.status.has_exit_code():
            return
        _send_kill(self._init.pidfd)
        while not _is_readable(self._init.pidfd, _PATIENCE_S) and time.monotonic() < deadline:
            for pid in _numbers():
                found = _hold(pid, self._init.namespace)
                if found is not None:
                    _send_kill(found.pidfd)
                    os.close(found.pidfd)

    def _learn_of_init(self) -> None:
        """Wait until the child is named: a bubblewrap that is killed before can leave it behind, stuck."""
        deadline = time.monotonic() + _NAMED_S
        self.observe()
        while self._init is None and not self.has_ended() and time.monotonic() < deadline:
            select.select([self.status.fd, self.pidfd], [], [], deadline - time.monotonic())
            self.observe()

    def _prove_death(self, deadline: float) -> None:
        if self.status.has_exit_code():
            return
        if self._init is not None:
            self._kill_namespace(deadline)
            if not _is_readable(self._init.pidfd, deadline - time.monotonic()):
                raise self._unhealthy("the namespace's init")
            return
        # No child that could be found: its pipe closes when the last of bubblewrap's own processes is gone.
        while self.report.is_open:
            if not _is_readable(self.report.fd, deadline - time.monotonic()):
                raise self._unhealthy("a child that bubblewrap did not name")
            self.report.read()

    def _unhealthy(self, what: str) -> SandboxError:
        return SandboxError(
            f"{what} of sandbox {self._started.pid} is not dead {_DEATH_S:.0f} s after SIGKILL: "
            "this host is unhealthy; take no more work here and look for processes in state D"
        )


@dataclass(frozen=True, slots=True)
class _Held:
    """A process that can't be mistaken for another any more."""

    pidfd: int
    namespace: int


def _hold(pid: int, namespace: int | None) -> _Held | None:
    """Open the pidfd of `pid` if it lives in the PID namespace: the number may have passed to somebody else."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        found = Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        found = None
    if found is not None and namespace in (None, found):
        return _Held(pidfd, found)
    os.close(pidfd)
    return None


def _numbers() -> Iterator[int]:
    return (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit())


def _send_kill(pidfd: int) -> None:
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:
        return


def _is_readable(fd: int, limit_s: float) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(max(0.0, limit_s) * 1000))
