"""Control groups of version 1: five hierarchies, for root.

The group lies below the one that this process is in, so that whoever accounts for us still does. Memory that is used up
kills somebody in the group and is told by `oom_kill`; the failure counter was seen to stay at 0.
"""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.limits.area import Area
from sandbox.limits.files import Kernel, field, number, pids, put, put_where_there_is, remove_soon
from sandbox.limits.group import Bounds, Usage

_PERIOD_US = 100_000
_FREEZE_S = 0.2
_AGAIN_S = 0.0005


@dataclass(frozen=True, slots=True)
class Hierarchies:
    """A folder in each: as bases those of this process, as places those of a group."""

    pids: Path
    memory: Path
    cpu: Path
    cpuacct: Path
    freezer: Path

    def all(self) -> tuple[Path, ...]:
        """Give each folder once: some machines mount two together."""
        return tuple(dict.fromkeys((self.pids, self.memory, self.cpu, self.cpuacct, self.freezer)))

    def below(self, name: str) -> "Hierarchies":
        """Name a group below these."""
        return Hierarchies(
            self.pids / name, self.memory / name, self.cpu / name, self.cpuacct / name, self.freezer / name
        )


class VersionOneGroup:
    """One sandbox's five folders."""

    def __init__(self, kernel: Kernel, places: Hierarchies) -> None:
        self._kernel = kernel
        self._places = places
        self.doors: tuple[int, ...] = ()

    def open(self) -> None:
        """Open the doors."""
        for place in self._places.all():
            self.doors += (os.open(place / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC),)

    def hold_to(self, bounds: Bounds) -> None:
        """Set the bounds."""
        at = self._places
        put(at.memory / "memory.limit_in_bytes", bounds.memory_bytes)
        put_where_there_is(at.memory / "memory.memsw.limit_in_bytes", bounds.memory_bytes)
        put(at.pids / "pids.max", bounds.processes)
        if bounds.cpus is not None:
            put(at.cpu / "cpu.cfs_period_us", _PERIOD_US)
            put(at.cpu / "cpu.cfs_quota_us", max(1000, int(bounds.cpus * _PERIOD_US)))

    def kill(self) -> None:
        """Freeze, kill, thaw: a frozen process can neither fork nor give its number to another."""
        state = self._places.freezer / "freezer.state"
        try:
            put(state, "FROZEN")
            if _is_frozen(state):
                for pid in pids(self._places.freezer):
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        finally:
            put(state, "THAWED")

    def kill_if_there(self) -> None:
        """Kill whoever is in what an interrupted removal may have left."""
        if (self._places.freezer / "freezer.state").exists():
            self.kill()

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        return not pids(self._places.freezer)

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody for want of memory."""
        return bool(field(self._places.memory / "memory.oom_control", "oom_kill"))

    def usage(self) -> Usage:
        """Tell what was used."""
        at = self._places
        cpu_ns = number(at.cpuacct / "cpuacct.usage")
        stopped = field(at.pids / "pids.events", "max")
        return Usage(
            cpu_s=None if cpu_ns is None else cpu_ns / 1e9,
            peak_memory_bytes=number(at.memory / "memory.max_usage_in_bytes"),
            peak_processes=number(at.pids / "pids.peak"),
            touched=(*(("memory",) if self.has_run_out() else ()), *(("processes",) if stopped else ())),
        )

    def remove(self) -> None:
        """Close the doors and remove the folders."""
        for door in self.doors:
            os.close(door)
        self.doors = ()
        for place in self._places.all():
            remove_soon(self._kernel, place)


class VersionOne:
    """Makes groups below `bases`."""

    kind = "cgroup v1"

    def __init__(self, bases: Hierarchies, kernel: Kernel | None = None) -> None:
        self._bases = bases
        self._kernel = kernel or Kernel()
        self._area = Area(self._kernel, bases.all(), lambda _folder: None)

    def make(self) -> VersionOneGroup:
        """Make a group, as `Groups.make` says."""
        group = VersionOneGroup(self._kernel, self._bases.below(self._area.cell()))
        try:
            group.open()
        except OSError as error:
            group.remove()
            raise SandboxError(f"{error.filename} can't be opened: {error.strerror}") from error
        return group

    def clear_leftovers(self) -> int:
        """Kill and remove what dead owners left."""
        cleared = 0
        for area in self._area.dead():
            names = {entry.name for folder in area if folder.is_dir() for entry in folder.iterdir() if entry.is_dir()}
            for name in names:
                group = VersionOneGroup(self._kernel, self._bases.below(f"{area[0].parent.name}/{area[0].name}/{name}"))
                group.kill_if_there()
                group.remove()
            gone = [remove_soon(self._kernel, folder) for folder in area]
            cleared += all(gone)
        return cleared

    def close(self) -> None:
        """Remove this process's folder."""
        self._area.close()


def _is_frozen(state: Path) -> bool:
    deadline = time.monotonic() + _FREEZE_S
    while state.read_text().strip() != "FROZEN":
        if time.monotonic() > deadline:
            return False
        time.sleep(_AGAIN_S)
    return True
