"""Time that moves only when told."""

import threading
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until `advance` or `sleep` moves it."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed_s = 0.0
        self._lock = threading.Lock()  # guards _elapsed_s

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic(self) -> float:
        return self._elapsed_s

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        with self._lock:
            self._elapsed_s += seconds
