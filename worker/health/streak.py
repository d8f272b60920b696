"""How this host's cells end, one after another: told by the slots to the main process through a pipe."""

import os
from dataclasses import dataclass, replace

_MOST_BYTES = 400
"""Less than what a pipe takes in one piece, so that two slots' words never mix."""


@dataclass(frozen=True, slots=True)
class Streak:
    """Cells that failed one after another for reasons of their host."""

    length: int = 0
    last: str = ""
    """What the last of them said."""
    ended_well: int = 0
    """How many cells ended well, ever."""


class CellEnds:
    """Made before the fork; slots tell, the main process listens. What nobody listens to is dropped."""

    def __init__(self) -> None:
        self._listening, self._telling = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._rest = b""
        self._streak = Streak()

    def __del__(self) -> None:
        for end in (self._listening, self._telling):
            os.close(end)

    def tell(self, host_fault: str | None) -> None:
        """Say that a cell has ended well, or why its host is to blame."""
        word = "" if host_fault is None else " ".join(host_fault.split()) or "?"
        try:
            os.write(self._telling, word.encode(errors="replace")[:_MOST_BYTES] + b"\n")
        except BlockingIOError:
            return

    def streak(self) -> Streak:
        """Take in what was told since, and say how many cells failed running, up to now."""
        try:
            while more := os.read(self._listening, 1 << 16):
                self._rest += more
        except BlockingIOError:
            pass
        *words, self._rest = self._rest.split(b"\n")
        for word in words:
            before = self._streak
            self._streak = (
                replace(before, length=before.length + 1, last=word.decode(errors="replace"))
                if word
                else Streak(ended_well=before.ended_well + 1)
            )
        return self._streak

    def forget(self) -> None:
        """Begin to count failures anew."""
        self._streak = Streak(ended_well=self.streak().ended_well)
