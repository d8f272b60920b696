"""How long an attempt may go on: until the sweep's windows close or the host's, whichever is first.

What must stay true: the calendar is the lease book's, which all workers share; nothing is begun that is expected to
outlast its window; what runs all the same is stopped when the window closes.
"""

from dataclasses import dataclass, field

import structlog

from farm.errors import TransientError
from farm.model import Cell, Plan, StopReason
from farm.model.time_window import calendars, left_s
from farm.ports import Clock, LeaseBook
from worker.cell.pulse import Pulse
from worker.cell.stops import StoppedError
from worker.health.host_hours import HostHours

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Room:
    """The time that a cell has, and what it needs."""

    left_s: float | None
    """None: all the time there is."""
    needed_s: float

    @property
    def is_enough(self) -> bool:
        return self.left_s is None or self.left_s >= self.needed_s


@dataclass(frozen=True, slots=True)
class Hours:
    """The hours of one host."""

    leases: LeaseBook
    host: HostHours

    def left_s(self, plan: Plan) -> float | None:
        """Say for how long a cell of the plan may run from now on; None: for ever. May raise TransientError."""
        windows = calendars(plan.windows)
        now = self.leases.now() if windows or self.host.needs_calendar else None
        ends = (self.host.left_s(now), None if now is None else left_s(windows, now))
        return min((end for end in ends if end is not None), default=None)

    def room(self, plan: Plan, cell: Cell) -> Room:
        """Say how much time a cell of the plan has if it begins now. May raise TransientError."""
        return Room(self.left_s(plan), plan.needed_s(cell))


@dataclass(slots=True)
class Hourglass:
    """One attempt's time."""

    hours: Hours
    plan: Plan
    cell: Cell
    clock: Clock
    pulse: Pulse
    _began_s: float | None = field(default=None, init=False)
    _begun: int = field(default=0, init=False)
    """Sessions."""

    def ensure_time(self) -> None:
        """Raise StoppedError unless a session may be begun now; from here on the pulse stops at the window's close."""
        now_s = self.clock.monotonic()
        left_s = self._left_s(now_s)
        if self._began_s is None:
            self._began_s = now_s
        self._begun += 1
        if left_s is None:
            return
        if left_s < self._sessions_s(now_s - self._began_s) + self.plan.afterwards_s(self.cell):
            raise StoppedError(StopReason.WINDOW)
        self.pulse.stop_at(now_s + left_s)

    def _left_s(self, now_s: float) -> float | None:
        try:
            return self.hours.left_s(self.plan)
        except TransientError as error:  # what the claim was told still holds
            _log.warning("window.unanswered", problem=str(error))
            return None if self.pulse.until_s is None else max(0.0, self.pulse.until_s - now_s)

    def _sessions_s(self, passed_s: float) -> float:
        """Give what this session and those after it may need."""
        expected_s = self.plan.expected_s(self.cell)
        if expected_s is not None:
            return max(0.0, expected_s - passed_s)
        after = max(0, self.plan.arm_by_name[self.cell.arm].sessions - self._begun)
        return (1 + after) * self.plan.session_s(self.cell)
