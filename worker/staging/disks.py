"""The disks of cells: made ready when a task first asks for one, so that nobody else pays."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from farm.errors import SpecError
from farm.model import Limits
from sandbox.disk import Disk, Found
from sandbox.spec import DiskSize
from worker.trees.copying import Ownership

NOT_CAPPED = "not capped"


class CellDisks:
    """Makes disks where `find` finds that this host can; `renew` lets the sandbox see what is mounted there."""

    def __init__(self, find: Callable[[], Found], renew: Callable[[], None]) -> None:
        self._find = find
        self._renew = renew
        self._found: Found | None = None

    def make(self, limits: Limits, owner: Ownership) -> Disk | None:
        """Make a cell's disk; None where the task asks for none or the host has none. Raises SandboxError."""
        size = disk_size(limits)
        if size is None:
            return None
        disks = self._ready().disks
        return None if disks is None else disks.make(size, (owner.uid, owner.gid))

    def told(self, limits: Limits) -> str:
        """Say for the evidence what holds the task's disk limits."""
        size = disk_size(limits)
        if size is None:
            return f"{NOT_CAPPED}: the task sets no limit"
        found = self._ready()
        if found.disks is None:
            return f"{NOT_CAPPED}: {found.reason}"
        return f"ext4 on a loop device of the cell's own, {size.size_bytes} bytes, {size.inodes} inodes"

    def _ready(self) -> Found:
        if self._found is None:
            self._found = self._find()
            if self._found.disks is not None:
                self._renew()
        return self._found


def disk_size(limits: Limits) -> DiskSize | None:
    """Give the size that the limits ask for."""
    inodes = limits.disk_inodes
    return None if limits.disk_bytes is None or inodes is None else DiskSize(limits.disk_bytes, inodes)


def is_full(error: OSError) -> bool:
    """Tell whether a disk had no room."""
    return error.errno == errno.ENOSPC


@contextmanager
def fitting(disk: Disk | None) -> Iterator[None]:
    """Blame the task for a workspace that is larger than the disk that it asks for."""
    try:
        yield
    except OSError as error:
        if disk is None or not is_full(error):
            raise
        size = f"{disk.size.size_bytes} bytes and {disk.size.inodes} inodes"
        raise SpecError(
            f"the workspace does not fit on the cell's disk of {size}: raise the task's limits disk_bytes or inodes"
        ) from error
