"""Slot numbers: the slots of all workers that share a host's work root have different ones.

A number decides the uid that a slot's guests run as. Two slots with one uid could signal and read each other's guests.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from farm.errors import SpecError

_MOST_SLOTS = 10_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A number that is ours for as long as its lock is held: until `close`, or the process's end."""

    number: int
    lock: int

    def close(self) -> None:
        os.close(self.lock)


def take_slot(root: Path) -> Slot:
    """Take the first number from 0 that no living process holds below this work root; call it after the fork."""
    folder = root / "slots"
    folder.mkdir(mode=0o700, exist_ok=True)
    for number in range(_MOST_SLOTS):
        lock = os.open(folder / str(number), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        return Slot(number, lock)
    raise SpecError(f"all {_MOST_SLOTS} slots below {folder} are taken; give its workers fewer")
