"""Whether this worker may take work: two words that its main process and its slots share."""

import mmap
from enum import IntEnum

from worker.health.streak import CellEnds

_ROOM = 1024


class Rest(IntEnum):
    """What the main process lets its slots do."""

    NONE = 0
    TAKES_NOTHING = 1
    STOPS_CELLS = 2
    """What runs is handed back, too."""


class Fitness:
    """Made before the fork and shared by every slot.

    Lost once and for all: only a new worker proves itself anew. Rest comes and goes, as the main process says.
    """

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _ROOM)
        self._rest = mmap.mmap(-1, 1)
        self.ends = CellEnds()
        """How the slots' cells end."""

    def lose(self, problem: str) -> None:
        """Let this worker take nothing more, and say why; the first reason stays."""
        if self.problem is None:
            body = (problem.encode(errors="replace") or b"?")[: _ROOM - 1]
            self._shared[1 : 1 + len(body)] = body
            self._shared[0] = 1  # last: whoever sees it set sees all of the text

    @property
    def problem(self) -> str | None:
        """Why no work may be taken; None: it may."""
        if not self._shared[0]:
            return None
        return self._shared[1:].rstrip(b"\0").decode(errors="replace")

    @property
    def rest(self) -> Rest:
        return Rest(self._rest[0])

    def set_rest(self, rest: Rest) -> None:
        """Let the slots take nothing, or work again."""
        self._rest[0] = rest
