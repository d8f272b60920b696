"""Which queues have tickets, and what those need."""

from farm.adapters.redis.server import Server, milliseconds
from farm.adapters.redis.told import read_each
from farm.model import Value, queue_of

_KEYS = ("farm:queues:deadlines", "farm:queues:needs")


class _Asked(Value):
    needs: tuple[str, ...]


class RedisQueues:
    """Needs by their queue's name, each forgotten when nobody repeats it."""

    def __init__(self, server: Server) -> None:
        self._note = server.script("beat")
        self._noted = server.script("hosts")

    def open(self, needed: frozenset[str], ttl_s: float) -> None:
        asked = _Asked(needs=tuple(sorted(needed)))
        self._note.run(_KEYS, queue_of(needed), asked.model_dump_json(), milliseconds(ttl_s))

    def known(self) -> tuple[frozenset[str], ...]:
        told: list[str] = self._noted.run(_KEYS)
        return tuple(sorted((frozenset(asked.needs) for asked in read_each(_Asked, told)), key=queue_of))
