"""The wait for a running container: one poll over its socket, the wall timer, the caps, the stop."""

import math
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.backends.docker.talk import Capped, Talk
from sandbox.errors import SandboxError
from sandbox.spec import ExitKind, Limits

_ASK_S = 0.08
"""Stop is promised to be asked at least every 0.1 s."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Why we end a container that has not ended."""

    kind: ExitKind
    limit: str | None = None


class Watch:
    """Waits until the container has closed its outputs or must be ended."""

    def __init__(self, talk: Talk, outputs: tuple[Capped, ...], limits: Limits, stop: Callable[[], bool]) -> None:
        self._talk = talk
        self._outputs = outputs
        self._stop = stop
        self._wall = time.monotonic() + limits.wall_s
        self._ask = 0.0
        self._poll = select.poll()
        self._poll.register(talk.fd)

    def until_end(self) -> Cut | None:
        """Wait; give the reason to end the container, or None when its outputs have ended."""
        while self._talk.is_open:
            cut = self._cut()
            if cut is not None:
                return cut
            self._turn(min(self._ask, self._wall) - time.monotonic())
        return None

    def drain(self, limit_s: float) -> None:
        """Hear the rest of a dead container. Raises SandboxError when the engine does not come to an end."""
        deadline = time.monotonic() + limit_s
        while self._talk.is_open:
            if time.monotonic() > deadline:
                raise SandboxError(f"the engine still holds a dead container's outputs open after {limit_s:.0f} s")
            self._turn(deadline - time.monotonic())

    def late_cut(self) -> Cut | None:
        """Tell of a cap that was passed with the last words."""
        return Cut(ExitKind.LIMIT, "output") if any(one.is_over_cap for one in self._outputs) else None

    def _turn(self, rest_s: float) -> None:
        writing = select.POLLOUT if self._talk.has_more_to_say else 0
        self._poll.modify(self._talk.fd, select.POLLIN | writing)
        for _, events in self._poll.poll(math.ceil(max(0.0, rest_s) * 1000)):
            if events & select.POLLOUT:
                self._talk.say()
            if events & ~select.POLLOUT:
                self._talk.hear()

    def _cut(self) -> Cut | None:
        now = time.monotonic()
        late = self.late_cut()
        if late is not None:
            return late
        if now >= self._wall:
            return Cut(ExitKind.LIMIT, "wall")
        if now >= self._ask:
            self._ask = now + _ASK_S
            if self._stop():
                return Cut(ExitKind.STOPPED)
        return None
