"""How long an attempt may go on."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemoryLiveNotes, MemorySignals
from farm.errors import TransientError
from farm.model import Lease, Plan, StopReason, SweepId
from farm.model.time_window import parse_window
from farm.testing.clock import START, FakeClock
from tests.builders.sweeps import a_plan
from worker.cell.hours import Hourglass, Hours, Room
from worker.cell.ports import Exchange, Timing
from worker.cell.pulse import Pulse
from worker.cell.stops import StoppedError
from worker.health.host_hours import HostHours

LEASE = Lease(sweep=SweepId("s-1.1"), cell="t.a.1", index=0, attempt=1, holder="h/1/1")  # type: ignore[arg-type]  # a cell's id is text


def open_for(seconds: float) -> str:
    """Write the window that is open from START for so long."""
    return f"{START.isoformat()}/{(START + timedelta(seconds=seconds)).isoformat()}"


class Parts:
    """One host's hours, on a clock that moves when told."""

    def __init__(self, window: str | None = None, uptime_s: Callable[[], float] = lambda: 0.0) -> None:
        self.clock = FakeClock()
        self.leases = MemoryLeases(self.clock, MemorySignals())
        host = HostHours(None if window is None else parse_window(window), uptime_s)
        self.hours = Hours(self.leases, host)

    def pulse(self) -> Pulse:
        exchange = Exchange(self.leases, MemorySignals(), MemoryEvents(self.clock), MemoryLiveNotes())
        return Pulse(exchange, Timing(lease_ttl_s=10_000), self.clock, LEASE)

    def hourglass(self, plan: Plan, pulse: Pulse) -> Hourglass:
        return Hourglass(self.hours, plan, plan.cells[0], self.clock, pulse)


class Away(MemoryLeases):
    """A lease book that does not answer."""

    def now(self) -> None:  # type: ignore[override]  # it never answers
        raise TransientError("Redis is away")


def test_without_a_window_there_is_time_for_ever() -> None:
    plan = a_plan()
    assert Parts().hours.room(plan, plan.cells[0]) == Room(None, 2400 + 120 + 30)
    assert Room(None, 10.0**9).is_enough


def test_the_window_that_closes_first_bounds() -> None:
    plan = a_plan(windows=(open_for(600),))
    assert Parts().hours.left_s(plan) == 600
    assert Parts(open_for(300)).hours.left_s(plan) == 300
    assert Parts(open_for(900)).hours.left_s(plan) == 600
    assert Parts("instance 2h reserve 1h", lambda: 3500.0).hours.left_s(plan) == 100
    assert Parts("instance 2h reserve 1h", lambda: 9000.0).hours.left_s(a_plan()) == 0


def test_a_cell_needs_what_it_is_expected_to_last_and_its_checks_and_upload() -> None:
    plan = a_plan(durations={"task": {"old": 60.0}}, upload_s=5.0)
    old, new = plan.cells[:2]
    assert Parts().hours.room(plan, old).needed_s == 60 + 120 + 5
    assert Parts().hours.room(plan, new).needed_s == 2400 + 120 + 5
    assert [Room(185.0, 185.0).is_enough, Room(184.9, 185.0).is_enough] == [True, False]


def test_a_session_that_would_outlast_the_window_is_not_begun() -> None:
    plan = a_plan(durations={"task": {"old": 60.0}}, upload_s=5.0, windows=(open_for(200),))
    parts = Parts()
    pulse = parts.pulse()
    hourglass = parts.hourglass(plan, pulse)
    hourglass.ensure_time()
    parts.clock.advance(50)
    hourglass.ensure_time()  # 150 s are left, and 10 + 125 are needed
    parts.clock.advance(30)
    with pytest.raises(StoppedError) as stopped:
        hourglass.ensure_time()
    assert stopped.value.reason is StopReason.WINDOW


def test_a_cell_of_several_sessions_is_begun_when_all_of_them_may_reach_their_limits() -> None:
    arms = tuple(arm.model_copy(update={"sessions": 2}) for arm in a_plan().arms)
    plan = Plan.model_validate(a_plan(windows=(open_for(2 * 2400 + 150),)).model_dump() | {"arms": arms})
    parts = Parts()
    assert parts.hours.room(plan, plan.cells[0]).needed_s == 2 * 2400 + 120 + 30
    hourglass = parts.hourglass(plan, parts.pulse())
    hourglass.ensure_time()
    parts.clock.advance(2400)
    hourglass.ensure_time()  # what the second needs was kept free for it
    late = parts.hourglass(plan, parts.pulse())
    with pytest.raises(StoppedError):
        late.ensure_time()


def test_the_pulse_stops_the_attempt_when_the_window_closes() -> None:
    plan = a_plan(durations={"task": {"old": 60.0}}, upload_s=5.0, windows=(open_for(200),))
    parts = Parts()
    pulse = parts.pulse()
    parts.hourglass(plan, pulse).ensure_time()
    parts.clock.advance(199)
    assert pulse.stop_reason() is None
    parts.clock.advance(1)
    assert pulse.stop_reason() is StopReason.WINDOW


def test_while_the_lease_book_is_away_what_the_claim_was_told_holds() -> None:
    plan = a_plan(durations={"task": {"old": 60.0}}, upload_s=5.0, windows=(open_for(600),))
    parts = Parts()
    pulse = parts.pulse()
    pulse.stop_at(200)
    away = Hourglass(Hours(Away(parts.clock), HostHours()), plan, plan.cells[0], parts.clock, pulse)
    away.ensure_time()
    parts.clock.advance(80)
    with pytest.raises(StoppedError):
        away.ensure_time()
