"""Heartbeats of hosts, and orders to them."""

from farm.adapters.redis.server import Server, milliseconds
from farm.adapters.redis.told import read_each
from farm.model import DrainOrder, Host, canonical_json

_KEYS = ("farm:hosts:deadlines", "farm:hosts:facts")
_ORDERS = "farm:hosts:orders"
_KEPT_S = 30 * 86_400
"""Orders to hosts that never come back go away by themselves, this long after the last one to any."""


class RedisHosts:
    """Hosts by id, each forgotten when its time is over."""

    def __init__(self, server: Server) -> None:
        self._beat = server.script("beat")
        self._hosts = server.script("hosts")

    def beat(self, host: Host, ttl_s: float) -> None:
        self._beat.run(_KEYS, host.id, host.model_dump_json(), milliseconds(ttl_s))

    def live(self) -> tuple[Host, ...]:
        told: list[str] = self._hosts.run(_KEYS)
        return tuple(sorted(read_each(Host, told), key=lambda host: host.id))


class RedisDrainOrders:
    """Orders as fields of a hash, by the host's name."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def give(self, host: str, order: DrainOrder) -> None:
        with self._server.answering() as client, client.pipeline(transaction=False) as both:
            both.hset(_ORDERS, host, canonical_json(order).decode())
            both.expire(_ORDERS, _KEPT_S)
            both.execute()

    def last(self, host: str) -> DrainOrder | None:
        with self._server.answering() as client:
            told = client.hget(_ORDERS, host)
        return None if told is None else next(read_each(DrainOrder, (str(told),)), None)
