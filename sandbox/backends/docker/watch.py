"""The wait for a running container: one poll over its socket."""

import math
import select
import time

from sandbox.backends.cuts import Cut, Cuts
from sandbox.backends.docker.talk import Talk
from sandbox.errors import SandboxError


class Watch:
    """Waits until the container has closed its outputs or must be ended."""

    def __init__(self, talk: Talk, cuts: Cuts) -> None:
        self._talk = talk
        self._cuts = cuts
        self._poll = select.poll()
        self._poll.register(talk.fd)

    def until_end(self) -> Cut | None:
        """Wait; give the reason to end the container, or None when its outputs have ended."""
        while self._talk.is_open:
            cut = self._cuts.due()
            if cut is not None:
                return cut
            self._turn(self._cuts.rest_ms())
        return None

    def drain(self, limit_s: float) -> None:
        """Hear the rest of a dead container. Raises SandboxError when the engine does not come to an end."""
        deadline = time.monotonic() + limit_s
        while self._talk.is_open:
            rest_s = deadline - time.monotonic()
            if rest_s < 0:
                raise SandboxError(f"the engine still holds a dead container's outputs open after {limit_s:.0f} s")
            self._turn(math.ceil(rest_s * 1000))

    def _turn(self, rest_ms: int) -> None:
        writing = select.POLLOUT if self._talk.has_more_to_say else 0
        self._poll.modify(self._talk.fd, select.POLLIN | writing)
        for _, events in self._poll.poll(rest_ms):
            if events & select.POLLOUT:
                self._talk.say()
            if events & ~select.POLLOUT:
                self._talk.hear()
