"""Whether this worker may take work: one word that its main process and its slots share."""

import mmap

_ROOM = 1024


class Fitness:
    """Made before the fork and shared by every slot; lost once and for all: only a new worker proves itself anew."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _ROOM)

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
