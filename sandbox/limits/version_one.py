"""Version 1: five hierarchies, for root.

The group lies below the one that this process is in, so that whoever accounts for us still does. Memory that is used up
kills somebody in the group and is told by `oom_kill`; the failure counter was seen to stay at 0. What waits in
TCP's and UDP's sockets is none of that memory here: it has a bound of its own, at which senders wait and packets drop.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from sandbox.limits.files import field, number, pids, put, put_where_there_is, text
from sandbox.limits.interface import PERIOD_US, Bounds

_SOCKETS = "memory.kmem.tcp.limit_in_bytes"
_SOCKETS_SHARE = 4
"""Sockets may hold this part of the memory, on top of it: the two are counted apart, so their sum is the true bound."""
_FREEZE_S = 0.2
_AGAIN_S = 0.0005


@dataclass(frozen=True, slots=True)
class VersionOne:
    """A folder in each hierarchy, as `Place`."""

    kind: ClassVar[str] = "cgroup v1"

    pids: Path
    memory: Path
    cpu: Path
    cpuacct: Path
    freezer: Path

    def folders(self) -> tuple[Path, ...]:
        """Give each folder once, for some machines mount two hierarchies together; first the one that can kill."""
        return tuple(dict.fromkeys((self.freezer, self.pids, self.memory, self.cpu, self.cpuacct)))

    def below(self, name: str) -> Self:
        """Name a group below these."""
        return type(self)(
            self.pids / name, self.memory / name, self.cpu / name, self.cpuacct / name, self.freezer / name
        )

    def pass_on(self, folder: Path) -> None:
        """Have nothing to do: here every folder may have limited groups below it."""

    def set_up(self) -> None:
        """Have nothing to do."""

    def open_entry(self, folder: Path) -> int:
        """Open what lets in a single thread without waiting; cgroup.procs waits for every processor, about 10 ms."""
        return os.open(f"{folder}/tasks", os.O_WRONLY | os.O_CLOEXEC)

    def hold_to(self, bounds: Bounds) -> None:
        """Set the bounds."""
        put(f"{self.memory}/memory.limit_in_bytes", bounds.memory_bytes)
        put_where_there_is(f"{self.memory}/memory.memsw.limit_in_bytes", bounds.memory_bytes)
        put_where_there_is(f"{self.memory}/{_SOCKETS}", bounds.memory_bytes // _SOCKETS_SHARE)
        if bounds.quota_us is not None:
            put(f"{self.cpu}/cpu.cfs_period_us", PERIOD_US)
            put(f"{self.cpu}/cpu.cfs_quota_us", bounds.quota_us)

    def holds_sockets(self) -> bool:
        """Tell whether this kernel counts them."""
        return (self.memory / _SOCKETS).exists()

    def kill(self) -> None:
        """Freeze, kill, thaw: a frozen process can neither fork nor give its number to another."""
        state = f"{self.freezer}/freezer.state"
        try:
            put(state, "FROZEN")
            if _is_frozen(state):
                for pid in pids(self.freezer):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        finally:
            put(state, "THAWED")

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        return not pids(self.freezer)

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody for want of memory."""
        return bool(field(f"{self.memory}/memory.oom_control", "oom_kill"))

    def cpu_s(self) -> float | None:
        """Tell the processor time."""
        used_ns = number(f"{self.cpuacct}/cpuacct.usage")
        return None if used_ns is None else used_ns / 1e9

    def was_throttled(self) -> bool:
        """Tell whether the kernel stopped somebody for having had the share of a period."""
        return bool(field(f"{self.cpu}/cpu.stat", "nr_throttled"))

    def peak_memory_bytes(self) -> int | None:
        """Tell the most memory, and the most that was in sockets on top of it, as if both were at once."""
        peak = number(f"{self.memory}/memory.max_usage_in_bytes")
        return None if peak is None else peak + (number(f"{self.memory}/memory.kmem.tcp.max_usage_in_bytes") or 0)


def _is_frozen(state: str) -> bool:
    deadline = time.monotonic() + _FREEZE_S
    while (text(state) or "").strip() != "FROZEN":
        if time.monotonic() > deadline:
            return False
        time.sleep(_AGAIN_S)
    return True
