"""Time, so that it can be a fake."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The machine's clocks."""

    def now(self) -> datetime:
        """Return the instant, in UTC, with its time zone."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, for durations only."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
