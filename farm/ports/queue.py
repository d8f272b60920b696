"""The pipe that carries tickets to workers."""

from typing import Protocol

from farm.model import Ticket


class Dispatcher(Protocol):
    """Send tickets. At least zero, at most many deliveries: claims decide. May raise TransientError."""

    def send(self, ticket: Ticket) -> None:
        """Offer the attempt to any worker."""
        ...
