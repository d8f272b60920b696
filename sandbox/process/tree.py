"""One started sandbox: what may be signalled, what has been reported, and the proof that all of it is dead.

Bubblewrap names its child before the child may go on, so as long as no child is named nothing of the guest runs; and
it says `exit-code` only after it has waited for the child, whose death takes the PID namespace with it. Where it can't
say so (it was killed), a pidfd of the child tells the same. A bare pid is never signalled: it may be somebody else's.
"""

import os
import select
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox.errors import SandboxError, SandboxUnhealthyError
from sandbox.process.reports import Report, Status
from sandbox.process.spawner import Channel, send_kill
from sandbox.process.waiting import is_readable

_DEATH_S = 5.0
_NAMED_S = 2.0
_REAPED_S = 1.0
_PATIENCE_S = 0.05
_AGAIN_S = 0.0005
_TOUCHED = "touched"


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known once everything is dead."""

    report: str
    """The init's lines."""
    cpu_s: float

    @property
    def words(self) -> list[list[str]]:
        """Give the lines' words, but for the limits'."""
        return [words for words in self._all() if words[0] != _TOUCHED]

    @property
    def touched(self) -> tuple[str, ...]:
        """Name the limits that the init saw reached."""
        return tuple(words[1] for words in self._all() if words[0] == _TOUCHED)

    def _all(self) -> list[list[str]]:
        return [line.split() for line in self.report.splitlines()]


class Fold(Protocol):
    """What bubblewrap starts in, if the machine has such: a control group."""

    entries: tuple[int, ...]
    """As `Order.groups`."""

    def kill(self) -> None:
        """Kill whoever is in."""
        ...

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more. Raises SandboxError when it can't be told."""
        ...


class Tree:
    """Bubblewrap and everything below it."""

    def __init__(self, channel: Channel, status: Status, report: Report, fold: Fold | None = None) -> None:
        self._channel = channel
        self._fold = fold
        self.fd = channel.fd
        """Readable when bubblewrap has ended."""
        self.status = status
        self.report = report
        self._init: _Held | None = None
        self._is_init_hidden = False
        self._ending: Ending | None = None

    def observe(self) -> None:
        """Read what has been reported."""
        self._channel.read()
        self.status.read()
        self.report.read()

    def has_ended(self) -> bool:
        """Tell whether bubblewrap is gone; what it left is `end`'s to find out."""
        channel = self._channel
        return channel.ended is not None or channel.failure is not None or not channel.is_open

    def end(self) -> Ending:
        """Kill what is alive, wait until all is dead, tell what is known. Raises SandboxUnhealthyError after 5 s."""
        if self._ending is None:
            self._ending = self._end()
        return self._ending

    def close(self) -> None:
        """Let go of the descriptors. Only after `end`."""
        self._channel.close()
        for fd in (self.status.fd, self.report.fd):
            os.close(fd)
        if self._init is not None:
            os.close(self._init.pidfd)

    def _end(self) -> Ending:
        deadline = time.monotonic() + _DEATH_S
        self._learn_of_init()
        try:
            self._kill_fold()
        finally:
            # A group that can't be killed is told once everything else has been.
            ending = self._end_namespace(deadline)
        return ending

    def _end_namespace(self, deadline: float) -> Ending:
        self._kill_namespace(deadline)
        # Bubblewrap sees its child die and ends by itself, with the whole tree's CPU time on its account.
        if not self._is_ended_within(0 if self._init is None else _REAPED_S):
            self._channel.kill()
        if not self._is_ended_within(deadline - time.monotonic()):
            raise self._unhealthy("bubblewrap")
        self.observe()
        if self._channel.failure is not None:
            raise SandboxError(f"bubblewrap could not be started: {self._channel.failure}")
        if self._channel.ended is None:
            raise self._orphaned(deadline)
        self._prove_death(deadline)
        self._prove_emptiness(deadline)
        return Ending(report=self.report.text.decode(errors="replace"), cpu_s=self._channel.ended.cpu_s)

    def _is_ended_within(self, limit_s: float) -> bool:
        deadline = time.monotonic() + limit_s
        while True:
            self._channel.read()
            if self.has_ended() or not is_readable(self.fd, deadline - time.monotonic()):
                return self.has_ended()

    def _orphaned(self, deadline: float) -> SandboxError:
        """Tell of a spawner that ended: the kernel kills the whole of its namespace before it counts as dead."""
        if not self._channel.is_dead_with_its_spawner(deadline - time.monotonic()):
            return self._unhealthy("the spawner")
        self._prove_emptiness(deadline)
        return SandboxError(
            "the spawner was killed, and every sandbox of this worker with it; look in the kernel's log"
        )

    def _kill_namespace(self, deadline: float) -> None:
        """Kill the init, and with it all; where it does not get to dying, kill the others one by one.

        A guest with hundreds of busy sessions of its own leaves the init so small a share of the processors that it
        was seen not to die within 5 s of its SIGKILL. Each one that dies gives its share back.
        """
        self._hold_init()
        if self._init is None or self.status.has_exit_code():
            return
        send_kill(self._init.pidfd)
        while not is_readable(self._init.pidfd, _PATIENCE_S) and time.monotonic() < deadline:
            for pid in _numbers():
                found = _hold(pid, self._init.namespace)
                if found is not None:
                    send_kill(found.pidfd)
                    os.close(found.pidfd)

    def _learn_of_init(self) -> None:
        """Wait until the child is named: a bubblewrap that is killed before can leave it behind, stuck."""
        deadline = time.monotonic() + _NAMED_S
        self.observe()
        while self.status.child() is None and not self.has_ended() and time.monotonic() < deadline:
            select.select([self.status.fd, self.fd], [], [], max(0.0, deadline - time.monotonic()))
            self.observe()

    def _hold_init(self) -> None:
        """Get hold of the namespace's init, unless it is dead: then the namespace is."""
        child = self.status.child()
        if self._init is not None or child is None or self.status.has_exit_code():
            return
        pidfd = self._channel.find(child.pid)
        self._is_init_hidden = False
        if pidfd is None:
            return
        try:
            is_it = child.pid_namespace == _namespace_of(_number_of(pidfd))
        except PermissionError:
            self._is_init_hidden, is_it = True, False
        if is_it:
            self._init = _Held(pidfd, child.pid_namespace)
        else:
            os.close(pidfd)

    def _prove_death(self, deadline: float) -> None:
        if self.status.has_exit_code():
            return
        if self.status.child() is not None:
            self._kill_namespace(deadline)
            while self._is_init_hidden:
                if time.monotonic() > deadline:
                    raise self._unhealthy("the namespace's init, or who has its number and may not be looked at,")
                time.sleep(_PATIENCE_S)
                self._kill_namespace(deadline)
            if self._init is not None and not is_readable(self._init.pidfd, deadline - time.monotonic()):
                raise self._unhealthy("the namespace's init")
            return
        # No child that was named: its pipe closes when the last of bubblewrap's own processes is gone.
        while self.report.is_open:
            if not is_readable(self.report.fd, deadline - time.monotonic()):
                raise self._unhealthy("a child that bubblewrap did not name")
            self.report.read()

    def _kill_fold(self) -> None:
        """Kill all at once, so that the many can't keep the init from dying; not needed where all are dead."""
        if self._fold is not None and not self.status.has_exit_code():
            self._fold.kill()

    def _prove_emptiness(self, deadline: float) -> None:
        """Wait until nobody is in; who can't be looked at may be alive."""
        while self._fold is not None:
            hidden = None
            try:
                if self._fold.is_empty():
                    return
            except SandboxError as error:
                hidden = error
            if time.monotonic() > deadline:
                raise self._unhealthy("somebody in the control group") from hidden
            time.sleep(_AGAIN_S)

    def _unhealthy(self, what: str) -> SandboxUnhealthyError:
        return SandboxUnhealthyError(
            f"{what} is not dead {_DEATH_S:.0f} s after SIGKILL: "
            "this host is unhealthy; take no more work here and look for processes in state D"
        )


@dataclass(frozen=True, slots=True)
class _Held:
    """A process that can't be mistaken for another any more."""

    pidfd: int
    namespace: int


def _hold(pid: int, namespace: int) -> _Held | None:
    """Open the pidfd of `pid` if it lives in the PID namespace: the number may have passed to somebody else."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    # Whoever may not be looked at is none of ours to kill.
    with suppress(PermissionError):
        if _namespace_of(pid) == namespace:
            return _Held(pidfd, namespace)
    os.close(pidfd)
    return None


def _number_of(pidfd: int) -> int:
    """Give the process's number as this process counts; -1 when it has been waited for, 0 when we can't see it."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def _namespace_of(pid: int) -> int | None:
    """Give the PID namespace of `pid`; None when it is gone. Raises PermissionError when we may not look."""
    if pid == 0:
        raise PermissionError
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except (FileNotFoundError, ProcessLookupError):
        return None


def _numbers() -> Iterator[int]:
    return (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit())
