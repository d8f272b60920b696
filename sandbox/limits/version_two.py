"""Control groups of version 2: one subtree that was delegated to us, by systemd's `Delegate=yes` or by being root.

`memory.oom.group` makes the kernel kill the whole group when its memory is used up, not whom it likes best.
"""

import os
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.limits.area import Area
from sandbox.limits.files import Kernel, field, number, put, put_where_there_is, remove_soon
from sandbox.limits.group import Bounds, Usage

CONTROLLERS = ("memory", "pids", "cpu")
_PERIOD_US = 100_000


class VersionTwoGroup:
    """One sandbox's folder."""

    def __init__(self, kernel: Kernel, place: Path) -> None:
        self._kernel = kernel
        self._place = place
        self.doors: tuple[int, ...] = ()

    def open(self) -> None:
        """Open the door, and have all killed when memory is used up."""
        put(self._place / "memory.oom.group", 1)
        self.doors = (os.open(self._place / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC),)

    def hold_to(self, bounds: Bounds) -> None:
        """Set the bounds."""
        put(self._place / "memory.max", bounds.memory_bytes)
        put_where_there_is(self._place / "memory.swap.max", 0)
        put(self._place / "pids.max", bounds.processes)
        if bounds.cpus is not None:
            put(self._place / "cpu.max", f"{max(1000, int(bounds.cpus * _PERIOD_US))} {_PERIOD_US}")

    def kill(self) -> None:
        """Kill whoever is in, all at once."""
        put(self._place / "cgroup.kill", 1)

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        return not field(self._place / "cgroup.events", "populated")

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody for want of memory."""
        return bool(field(self._place / "memory.events", "oom_kill"))

    def usage(self) -> Usage:
        """Tell what was used."""
        cpu_us = field(self._place / "cpu.stat", "usage_usec")
        stopped = field(self._place / "pids.events", "max")
        return Usage(
            cpu_s=None if cpu_us is None else cpu_us / 1e6,
            peak_memory_bytes=number(self._place / "memory.peak"),
            peak_processes=number(self._place / "pids.peak"),
            touched=(*(("memory",) if self.has_run_out() else ()), *(("processes",) if stopped else ())),
        )

    def remove(self) -> None:
        """Close the door and remove the folder."""
        for door in self.doors:
            os.close(door)
        self.doors = ()
        remove_soon(self._kernel, self._place)


class VersionTwo:
    """Makes groups below `delegated`, which holds no process itself."""

    kind = "cgroup v2"

    def __init__(self, delegated: Path, kernel: Kernel | None = None) -> None:
        self._delegated = delegated
        self._kernel = kernel or Kernel()
        self._area = Area(self._kernel, (delegated,), pass_on)

    def make(self) -> VersionTwoGroup:
        """Make a group, as `Groups.make` says."""
        group = VersionTwoGroup(self._kernel, self._delegated / self._area.cell())
        try:
            group.open()
        except OSError as error:
            group.remove()
            raise SandboxError(f"{error.filename} can't be opened: {error.strerror}") from error
        return group

    def clear_leftovers(self) -> int:
        """Kill and remove what dead owners left."""
        cleared = 0
        for (area,) in self._area.dead():
            for place in tuple(entry for entry in area.iterdir() if entry.is_dir()):
                group = VersionTwoGroup(self._kernel, place)
                group.kill()
                group.remove()
            cleared += remove_soon(self._kernel, area)
        return cleared

    def close(self) -> None:
        """Remove this process's folder."""
        self._area.close()


def pass_on(folder: Path) -> None:
    """Let the groups below `folder` have the controllers."""
    put(folder / "cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))
