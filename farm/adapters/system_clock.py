"""The machine's own clocks."""

import time
from datetime import UTC, datetime


class SystemClock:
    """The one place that reads the time."""

    def now(self) -> datetime:
        return datetime.now(tz=UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
