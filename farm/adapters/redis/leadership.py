"""One coordinator a sweep."""

from farm.adapters.redis.server import Server, milliseconds
from farm.model import SweepId


class RedisLeadership:
    """A lead is a key that expires."""

    def __init__(self, server: Server) -> None:
        self._lead = server.script("lead")
        self._resign = server.script("resign")

    def lead(self, sweep: SweepId, holder: str, ttl_s: float) -> bool:
        return bool(self._lead.run((_key(sweep),), holder, milliseconds(ttl_s)) == 1)

    def resign(self, sweep: SweepId, holder: str) -> None:
        self._resign.run((_key(sweep),), holder)


def _key(sweep: SweepId) -> str:
    return f"farm:lead:{sweep}"
