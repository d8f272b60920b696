"""The pipe that carries tickets to workers."""

from typing import Protocol

from farm.model import Ticket


class Dispatcher(Protocol):
    """Send tickets. At least zero, at most many deliveries: claims decide. May raise TransientError."""

    def send(self, ticket: Ticket) -> None:
        """Offer the attempt to whoever takes from the ticket's queue."""
        ...


class Queues(Protocol):
    """Which queues have tickets: one for each set of needs. May be lost, so who fills one repeats it.

    May raise TransientError.
    """

    def open(self, needed: frozenset[str], ttl_s: float) -> None:
        """Ask hosts that offer `needed` to take from its queue, for the next `ttl_s`."""
        ...

    def known(self) -> tuple[frozenset[str], ...]:
        """List what the queues' tickets need, without those that nobody repeated in time."""
        ...
