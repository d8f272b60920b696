"""The wait for a running container: one poll over its socket."""

import math
import select
import time

from sandbox.backends.cuts import Cut, Cuts
from sandbox.backends.docker.talk import Talk
from sandbox.errors import SandboxUnhealthyError


class Watch:
    """Waits until the container's command has ended, or the container itself."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._poll = select.poll()
        self._poll.register(talk.fd)

    def until_end(self, cuts: Cuts) -> Cut | None:
        """Wait; give the reason to end the container, or None when its command has ended, or it itself."""
        while not self._talk.is_over:
            cut = cuts.due()
            if cut is not None:
                return cut
            self.turn(cuts.rest_ms())
        return None

    def drain(self, limit_s: float) -> None:
        """Hear the rest of a dead container. Raises SandboxUnhealthyError when it does not end in time."""
        deadline = time.monotonic() + limit_s
        while self._talk.is_open:
            rest_s = deadline - time.monotonic()
            if rest_s < 0:
                raise SandboxUnhealthyError(
                    f"a container's outputs are open {limit_s:.0f} s after its end, so its death is not proven: "
                    "take no more work here and look at the engine's log"
                )
            self.turn(math.ceil(rest_s * 1000))

    def turn(self, rest_ms: int) -> None:
        """Wait at most so long for something to say or to hear."""
        writing = select.POLLOUT if self._talk.has_more_to_say else 0
        self._poll.modify(self._talk.fd, select.POLLIN | writing)
        for _, events in self._poll.poll(rest_ms):
            if events & select.POLLOUT:
                self._talk.say()
            if events & ~select.POLLOUT:
                self._talk.hear()
