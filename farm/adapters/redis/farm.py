"""All that a farm keeps in one Redis or Valkey, under `farm:`. All of it may be lost."""

from typing import cast

from farm.adapters.redis.events import RedisEvents
from farm.adapters.redis.hosts import RedisDrainOrders, RedisHosts
from farm.adapters.redis.leadership import RedisLeadership
from farm.adapters.redis.leases import RedisLeases
from farm.adapters.redis.live import RedisLiveNotes
from farm.adapters.redis.queues import RedisQueues
from farm.adapters.redis.server import Server
from farm.adapters.redis.shares import RedisShares
from farm.adapters.redis.signals import RedisSignals
from farm.errors import SpecError


class RedisFarm:
    """The ports over one pool of connections: one connection for each thread that asks at the same time."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.leases = RedisLeases(server)
        self.signals = RedisSignals(server)
        self.shares = RedisShares(server)
        self.hosts = RedisHosts(server)
        self.orders = RedisDrainOrders(server)
        self.queues = RedisQueues(server)
        self.events = RedisEvents(server)
        self.leadership = RedisLeadership(server)
        self.live = RedisLiveNotes(server)

    @property
    def shown_url(self) -> str:
        """The server's URL without what is secret in it."""
        return self._server.shown_url

    def ping(self) -> None:
        """Ask the server whether it is there, lets us in, and will not drop what it was told."""
        with self._server.answering() as client:
            client.ping()  # refused while the server still loads its data, which INFO is not
            memory = cast("dict[str, object]", client.info("memory"))
        policy = str(memory.get("maxmemory_policy", "noeviction"))
        if policy.startswith("allkeys") and memory.get("maxmemory"):
            raise SpecError(
                f"Redis at {self.shown_url} would evict tickets and leases when it is full "
                f"(maxmemory-policy {policy}); set it to noeviction"
            )

    def close(self) -> None:
        """Close the connections."""
        self._server.client.close()


def connect(url: str) -> RedisFarm:
    """Prepare to use the server at `url`; nothing is asked of it before the first call."""
    return RedisFarm(Server(url))
