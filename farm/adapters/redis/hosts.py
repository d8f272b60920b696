"""Heartbeats of hosts."""

from farm.adapters.redis.server import Server, milliseconds
from farm.model import Host, parse_record

_KEYS = ("farm:hosts:deadlines", "farm:hosts:facts")


class RedisHosts:
    """Hosts by id, each forgotten when its time is over."""

    def __init__(self, server: Server) -> None:
        self._beat = server.script("beat")
        self._hosts = server.script("hosts")

    def beat(self, host: Host, ttl_s: float) -> None:
        self._beat.run(_KEYS, host.id, host.model_dump_json(), milliseconds(ttl_s))

    def live(self) -> tuple[Host, ...]:
        told: list[str] = self._hosts.run(_KEYS)
        hosts = (parse_record(Host, facts.encode(), _KEYS[1]) for facts in told)
        return tuple(sorted(hosts, key=lambda host: host.id))
