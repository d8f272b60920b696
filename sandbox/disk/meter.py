"""What a disk holds, looked at while a guest runs: the kernel keeps no peak, and tells nobody when a disk is full."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.spec import Exit

DISK = "disk"
INODES = "inodes"
"""The names of the limits."""
_NEARLY_FULL_BYTES = 64 << 10
"""With less than this left, an ordinary program's next write fails."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is on a disk, and which of its limits that has come to."""

    used_bytes: int
    inodes: int
    reached: tuple[str, ...]


def held(place: Path) -> Held:
    """Look once: 2 µs."""
    found = os.statvfs(place)
    is_full = found.f_bavail * found.f_frsize < _NEARLY_FULL_BYTES
    reached = (*((DISK,) if is_full else ()), *((INODES,) if found.f_favail == 0 else ()))
    return Held((found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree, reached)


class Meter:
    """Looks at a disk every 0.1 s of a run, and at its end: what comes and goes between two looks is missed."""

    def __init__(self, place: Path, empty: Held) -> None:
        self._place = place
        self._empty = empty
        self._used_bytes = 0
        self._inodes = 0
        self._reached: set[str] = set()

    def watching(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        """Give a `stop` that looks each time before it is asked."""

        def ask() -> bool:
            self._look()
            return stop()

        return ask

    def told(self, exit_: Exit) -> Exit:
        """Add to an exit what was seen."""
        self._look()
        touched = (*exit_.limits_touched, *sorted(self._reached))
        return replace(exit_, peak_disk_bytes=self._used_bytes, peak_inodes=self._inodes, limits_touched=touched)

    def _look(self) -> None:
        now = held(self._place)
        self._used_bytes = max(self._used_bytes, now.used_bytes - self._empty.used_bytes)
        self._inodes = max(self._inodes, now.inodes - self._empty.inodes)
        self._reached.update(now.reached)
