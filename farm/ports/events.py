"""Hints from workers to the coordinator; the store alone is true, so any of them may be lost or doubled."""

from typing import Protocol

from farm.model import CellEvent, SweepId


class Events(Protocol):
    """A queue of hints, one a sweep. May raise TransientError."""

    def publish(self, sweep: SweepId, event: CellEvent) -> None:
        """Tell the coordinator to look."""
        ...

    def receive(self, sweep: SweepId, timeout_s: float) -> tuple[CellEvent, ...]:
        """Wait up to `timeout_s` for hints and return all that are there, oldest first; () when none came."""
        ...
