"""Version 2: one subtree that was delegated to us, by systemd's `Delegate=yes` or by being root; nobody is in its top.

`memory.oom.group` makes the kernel kill the whole group when its memory is used up, not whom it likes best.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from sandbox.limits.files import field, number, put, put_where_there_is
from sandbox.limits.interface import PERIOD_US, Bounds

CONTROLLERS = ("memory", "pids", "cpu")


@dataclass(frozen=True, slots=True)
class VersionTwo:
    """The one folder, as `Place`."""

    kind: ClassVar[str] = "cgroup v2"

    folder: Path

    @property
    def pids(self) -> Path:
        """Give the one folder."""
        return self.folder

    def folders(self) -> tuple[Path, ...]:
        """Give the one folder."""
        return (self.folder,)

    def below(self, name: str) -> Self:
        """Name a group below it."""
        return type(self)(self.folder / name)

    def pass_on(self, folder: Path) -> None:
        """Let the groups below `folder` have the controllers."""
        put(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))

    def set_up(self) -> None:
        """Have all killed when memory is used up."""
        put(self.folder / "memory.oom.group", 1)

    def open_entry(self, folder: Path) -> int:
        """Open the folder: to be born in it waits for nobody."""
        return os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def hold_to(self, bounds: Bounds) -> None:
        """Set the bounds."""
        put(self.folder / "memory.max", bounds.memory_bytes)
        put_where_there_is(self.folder / "memory.swap.max", 0)
        if bounds.quota_us is not None:
            put(self.folder / "cpu.max", f"{bounds.quota_us} {PERIOD_US}")

    def holds_sockets(self) -> bool:
        """Tell that they are part of the memory."""
        return True

    def kill(self) -> None:
        """Kill whoever is in, all at once."""
        put(self.folder / "cgroup.kill", 1)

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        return not field(self.folder / "cgroup.events", "populated")

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody for want of memory."""
        return bool(field(self.folder / "memory.events", "oom_kill"))

    def cpu_s(self) -> float | None:
        """Tell the processor time."""
        used_us = field(self.folder / "cpu.stat", "usage_usec")
        return None if used_us is None else used_us / 1e6

    def was_throttled(self) -> bool:
        """Tell whether the kernel stopped somebody for having had the share of a period."""
        return bool(field(self.folder / "cpu.stat", "nr_throttled"))

    def peak_memory_bytes(self) -> int | None:
        """Tell the most memory, what waits in sockets included."""
        return number(self.folder / "memory.peak")
