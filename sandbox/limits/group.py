"""Control groups, one for each run, below a folder of this process's own."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.limits.area import Area
from sandbox.limits.files import Kernel, field, number, put, remove_soon
from sandbox.limits.interface import Bounds, Place


@dataclass(frozen=True, slots=True)
class Usage:
    """What the whole tree used; None is what this kernel does not count."""

    cpu_s: float | None
    peak_memory_bytes: int | None
    peak_processes: int | None
    touched: tuple[str, ...]
    """Names of the limits that were run into, whether or not that ended anything."""


class Group:
    """A control group made for one run."""

    def __init__(self, kernel: Kernel, place: Place) -> None:
        self._kernel = kernel
        self._place = place
        self.entries: tuple[int, ...] = ()
        """Open files and folders, by which the spawner lets in whom it starts: see `Place.open_entry`."""

    def open(self) -> None:
        """Ready it and open its entries. Raises SandboxError."""
        self._place.set_up()
        for folder in self._place.folders():
            try:
                self.entries += (self._place.open_entry(folder),)
            except OSError as error:
                raise SandboxError(f"{error.filename} can't be opened: {error.strerror}") from error

    def hold_to(self, bounds: Bounds) -> None:
        """Set its bounds. Raises SandboxError."""
        self._place.hold_to(bounds)
        put(f"{self._place.pids}/pids.max", bounds.processes)

    def kill(self) -> None:
        """Kill whoever is in, all at once, so that none can start another meanwhile."""
        self._place.kill()

    def is_empty(self) -> bool:
        """Tell whether nobody is in any more."""
        return self._place.is_empty()

    def has_run_out(self) -> bool:
        """Tell whether the kernel killed somebody in it for want of memory."""
        return self._place.has_run_out()

    def usage(self) -> Usage:
        """Tell what was used, until `remove`."""
        touched = {
            "memory": self.has_run_out(),
            "processes": field(f"{self._place.pids}/pids.events", "max"),
            "processors": self._place.was_throttled(),
        }
        return Usage(
            cpu_s=self._place.cpu_s(),
            peak_memory_bytes=self._place.peak_memory_bytes(),
            peak_processes=number(f"{self._place.pids}/pids.peak"),
            touched=tuple(name for name, was_touched in touched.items() if was_touched),
        )

    def remove(self) -> None:
        """Remove it, once it is empty; what can't be removed is left to `Groups.clear_leftovers` of a later owner."""
        self.let_go()
        for folder in self._place.folders():
            remove_soon(self._kernel, folder)

    def let_go(self) -> None:
        """Close its entries, and leave the group to whoever owns it."""
        for entry in self.entries:
            os.close(entry)
        self.entries = ()


@dataclass(frozen=True, slots=True)
class _Ready:
    """A group that waits for its run."""

    group: Group
    owner: int
    """The process that made it."""


class Groups:
    """Makes control groups below `base`; a fork's are its own."""

    def __init__(self, base: Place, kernel: Kernel | None = None) -> None:
        self.kind = base.kind
        self.holds_sockets = base.holds_sockets()
        self._kernel = kernel or Kernel()
        self._area = Area(self._kernel, base)
        self._ready: list[_Ready] = []

    def make(self) -> Group:
        """Give a group without bounds yet, new or made ready before. Raises SandboxError."""
        while self._ready:
            ready = self._ready.pop()
            if ready.owner == os.getpid():
                return ready.group
            ready.group.let_go()  # the parent's, shared by the fork
        return self._made()

    def make_ready(self) -> None:
        """Make the group that the next `make` gives, if there is none: now, while nobody waits for it."""
        if not self._ready:
            with suppress(SandboxError):  # `make` will say so, if it is still true then
                self._ready.append(_Ready(self._made(), os.getpid()))

    def _made(self) -> Group:
        group = Group(self._kernel, self._area.cell())
        try:
            group.open()
        except BaseException:
            group.remove()
            raise
        return group

    def clear_leftovers(self) -> int:
        """Kill and remove what dead owners left, and tell how many of them there were."""
        return len({area.name for area in self._area.dead() if self._clear(area)})

    def _clear(self, area: Path) -> bool:
        """Clear one hierarchy's folder of an area."""
        place = self._area.top.below(area.name)
        for folder in [entry for entry in area.iterdir() if entry.is_dir()]:
            with suppress(SandboxError):  # nobody can be killed from here, or all are dead already
                place.below(folder.name).kill()
            remove_soon(self._kernel, folder)
        return remove_soon(self._kernel, area)

    def close(self) -> None:
        """Remove this process's folder."""
        while self._ready:
            ready = self._ready.pop()
            if ready.owner == os.getpid():
                ready.group.remove()
            else:
                ready.group.let_go()
        self._area.close()
