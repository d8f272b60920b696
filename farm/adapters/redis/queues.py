"""Which queues have tickets, and what those need."""

import json

from farm.adapters.redis.server import Server, milliseconds
from farm.model import queue_of

_KEYS = ("farm:queues:deadlines", "farm:queues:needs")


class RedisQueues:
    """Needs by their queue's name, each forgotten when nobody repeats it."""

    def __init__(self, server: Server) -> None:
        self._note = server.script("beat")
        self._noted = server.script("hosts")

    def open(self, needed: frozenset[str], ttl_s: float) -> None:
        self._note.run(_KEYS, queue_of(needed), json.dumps(sorted(needed)), milliseconds(ttl_s))

    def known(self) -> tuple[frozenset[str], ...]:
        told: list[str] = self._noted.run(_KEYS)
        return tuple(sorted((frozenset(json.loads(needed)) for needed in told), key=queue_of))
