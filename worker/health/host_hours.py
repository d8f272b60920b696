"""When this host may work: by the calendar, or for as long as the machine lives."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from farm.model.time_window import Instance, TimeWindow, left_s


def uptime_s() -> float:
    """Count the seconds since the machine's boot, those that it was suspended for included.

    Every process of the machine counts from the same instant: a worker that starts late does not live longer.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class HostHours:
    """The host's window, if it has one."""

    window: TimeWindow | None = None
    uptime_s: Callable[[], float] = uptime_s

    @property
    def needs_calendar(self) -> bool:
        """Say whether it must be known what time it is."""
        return self.window is not None and not isinstance(self.window, Instance)

    def left_s(self, now: datetime | None) -> float | None:
        """Say for how long cells may still run here; 0: no more for now; None: for ever. `now` is for a calendar."""
        if self.window is None:
            return None
        if isinstance(self.window, Instance):
            return self.window.left_s(self.uptime_s())
        return None if now is None else left_s((self.window,), now)
