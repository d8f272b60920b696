"""Which queues have tickets, in a dict."""

from farm.model import queue_of
from farm.ports import Clock


class MemoryQueues:
    """Needs with the end of their time, on `clock`'s monotonic time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until_s: dict[frozenset[str], float] = {}

    def open(self, needed: frozenset[str], ttl_s: float) -> None:
        self._until_s[needed] = self._clock.monotonic() + ttl_s

    def known(self) -> tuple[frozenset[str], ...]:
        now = self._clock.monotonic()
        return tuple(sorted((needed for needed, until_s in self._until_s.items() if until_s > now), key=queue_of))
