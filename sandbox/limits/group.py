"""Control groups, one for each run, below a folder of this process's own."""

import os
from contextlib import suppress
from dataclasses import dataclass

from sandbox.errors import SandboxError
from sandbox.limits.area import Area
from sandbox.limits.files import Kernel, field, number, put, remove_all
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
        put(self._place.pids / "pids.max", bounds.processes)

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
        was_refused = field(self._place.pids / "pids.events", "max")
        return Usage(
            cpu_s=self._place.cpu_s(),
            peak_memory_bytes=self._place.peak_memory_bytes(),
            peak_processes=number(self._place.pids / "pids.peak"),
            touched=(*(("memory",) if self.has_run_out() else ()), *(("processes",) if was_refused else ())),
        )

    def remove(self) -> None:
        """Remove it, once it is empty; what can't be removed is left to `Groups.clear_leftovers` of a later owner."""
        for entry in self.entries:
            os.close(entry)
        self.entries = ()
        remove_all(self._kernel, self._place.folders())


class Groups:
    """Makes control groups below `base`; a fork's are its own."""

    def __init__(self, base: Place, kernel: Kernel | None = None) -> None:
        self.kind = base.kind
        self._kernel = kernel or Kernel()
        self._area = Area(self._kernel, base)

    def make(self) -> Group:
        """Make a group without bounds yet. Raises SandboxError."""
        group = Group(self._kernel, self._area.cell())
        try:
            group.open()
        except BaseException:
            group.remove()
            raise
        return group

    def clear_leftovers(self) -> int:
        """Kill and remove what dead owners left, and tell how many of them there were."""
        return sum(self._clear(area) for area in self._area.dead())

    def _clear(self, area: Place) -> bool:
        inside = (entry for folder in area.folders() if folder.is_dir() for entry in folder.iterdir())
        for name in {entry.name for entry in inside if entry.is_dir()}:
            group = area.below(name)
            with suppress(SandboxError):  # an interrupted removal may have left some of its folders
                group.kill()
            remove_all(self._kernel, group.folders())
        return remove_all(self._kernel, area.folders())

    def close(self) -> None:
        """Remove this process's folder."""
        self._area.close()
