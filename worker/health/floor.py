"""Disk and inodes are a budget: below the floor no cell is begun, so that those that run can end."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from worker.trees.errors import TreeError

_log = structlog.get_logger()

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Floor:
    """What must be free in the work root's file system; 0: whatever is."""

    disk_bytes: int = 0
    inodes: int = 0

    def shortage(self, root: Path) -> str | None:
        """Say what is short; None: nothing. A file system that makes inodes as it goes is short of none."""
        try:
            found = os.statvfs(root)
        except OSError as error:
            return f"the work root {root} can't be looked at: {error.strerror}"
        free_bytes = found.f_bavail * found.f_frsize
        if free_bytes < self.disk_bytes:
            return (
                f"{free_bytes / GIB:.2f} GiB of disk are free at {root}, below the {self.disk_bytes / GIB:g} GiB of "
                "FARM_DISK_FLOOR_GIB: make room, and it works on"
            )
        if found.f_files and found.f_favail < self.inodes:
            return (
                f"{found.f_favail} inodes are free at {root}, below the {self.inodes} of FARM_INODE_FLOOR: "
                "make room, and it works on"
            )
        return None


@dataclass(frozen=True, slots=True)
class Keeper:
    """Looks after a host's room; what can be made again goes first."""

    floor: Floor
    root: Path
    drop_one: Callable[[], bool]
    """Drop one thing that can be made again; False when there is none that nobody uses."""

    def shortage(self) -> str | None:
        """Say what is short although everything was dropped that can be made again."""
        short = self.floor.shortage(self.root)
        if short is None or not self._try_to_drop():
            return short
        return self.floor.shortage(self.root)

    def _try_to_drop(self) -> bool:
        """Drop one thing at a time: whoever looks every second goes on in a second."""
        try:
            dropped = self.drop_one()
        except (TreeError, OSError) as error:
            _log.warning("cache.kept", root=str(self.root), problem=str(error))
            return False
        if dropped:
            _log.warning("cache.dropped", root=str(self.root))
        return dropped
