"""A pipe whose other end is a list."""

import threading

from farm.model import Ticket


class MemoryDispatcher:
    """Collects tickets until somebody takes them."""

    def __init__(self) -> None:
        self._sent: list[Ticket] = []
        self._lock = threading.Lock()  # guards _sent

    def send(self, ticket: Ticket) -> None:
        with self._lock:
            self._sent.append(ticket)

    @property
    def sent(self) -> tuple[Ticket, ...]:
        """Give the tickets that nobody took yet, oldest first."""
        with self._lock:
            return tuple(self._sent)

    def take(self) -> tuple[Ticket, ...]:
        """Remove and return all tickets, oldest first."""
        with self._lock:
            taken, self._sent = tuple(self._sent), []
            return taken
