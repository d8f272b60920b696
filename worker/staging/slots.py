"""Slot numbers: the slots of all workers that share a host's work root have different ones.

A number decides the uid that a slot's guests run as. Two slots with one uid could signal and read each other's guests.
"""

from dataclasses import dataclass
from pathlib import Path

from farm.errors import SpecError
from sandbox.locks import Held, try_lock

_MOST_SLOTS = 10_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A number that is ours until `close`, or the process's end."""

    number: int
    held: Held

    def close(self) -> None:
        """Give the number back."""
        self.held.close()


def take_slot(root: Path) -> Slot:
    """Take the first number from 0 that no living process holds below this work root; call it after the fork."""
    folder = root / "slots"
    folder.mkdir(mode=0o700, exist_ok=True)
    for number in range(_MOST_SLOTS):
        path = folder / str(number)
        path.touch(mode=0o600)
        held = try_lock(path)
        if held is not None:
            return Slot(number, held)
    raise SpecError(f"all {_MOST_SLOTS} slots below {folder} are taken; give its workers fewer")
