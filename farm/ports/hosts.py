"""Which hosts work now."""

from typing import Protocol

from farm.model import Host


class HostRegistry(Protocol):
    """Heartbeats of hosts; a host that stops beating is forgotten. May raise TransientError."""

    def beat(self, host: Host, ttl_s: float) -> None:
        """Say that the host is alive for the next `ttl_s`."""
        ...

    def live(self) -> tuple[Host, ...]:
        """List the hosts whose heartbeat has not expired, by id."""
        ...
