"""Which hosts work now, and what they are told."""

from typing import Protocol

from farm.model import DrainOrder, Host


class HostRegistry(Protocol):
    """Heartbeats of hosts; a host that stops beating is forgotten. May raise TransientError."""

    def beat(self, host: Host, ttl_s: float) -> None:
        """Say that the host is alive for the next `ttl_s`."""
        ...

    def live(self) -> tuple[Host, ...]:
        """List the hosts whose heartbeat has not expired, by id."""
        ...


class DrainOrders(Protocol):
    """The last order to each host, by the host's name. May be lost: hosts keep what they obey.

    May raise TransientError.
    """

    def give(self, host: str, order: DrainOrder) -> None:
        """Put the order in the place of the host's last one."""
        ...

    def last(self, host: str) -> DrainOrder | None:
        """Return the last order to the host, if any; also one that it has obeyed long ago."""
        ...
