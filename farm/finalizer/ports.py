"""What a finalizer needs of the world."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from farm.ports import Clock, Events, LeaseBook, Records, Signals
from farm.reporting.report_input import ReportInput


@dataclass(frozen=True, slots=True)
class FinalizerPorts:
    """The finalizer's ports."""

    records: Records
    leases: LeaseBook
    signals: Signals
    events: Events
    clock: Clock
    readers: int = 8
    """Reads at once: a remote store answers in tens of milliseconds, a folder at once."""


Render = Callable[[ReportInput], Mapping[str, bytes]]
"""Make the report's files by name; pure."""


class Grace:
    """The one interval that settling and clean-up share, from the moment it is made."""

    def __init__(self, clock: Clock, grace_s: float) -> None:
        self._clock = clock
        self._until_s = clock.monotonic() + grace_s

    @property
    def is_over(self) -> bool:
        return self._clock.monotonic() >= self._until_s

    def pause(self) -> None:
        """Wait a little before looking again."""
        self._clock.sleep(0.05)
