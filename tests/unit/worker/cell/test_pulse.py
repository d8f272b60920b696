"""The pulse: who keeps the lease, and who says stop."""

import pytest

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemoryLiveNotes, MemorySignals
from farm.errors import FarmError, SpecError, TransientError
from farm.model import Digest, Lease, StopReason, SweepId, Ticket
from farm.ports import Renewal
from farm.testing.clock import FakeClock
from tests.services.waiting import wait_until
from worker.cell.ports import Claimed, Exchange, Timing
from worker.cell.pulse import Pulse
from worker.cell.stops import StoppedError
from worker.health.fitness import Fitness
from worker.health.shutdown import ShutdownFlag, SignalsOrShutdown

SWEEP = SweepId("s-1.1")
TICKET = Ticket(sweep=SWEEP, plan=Digest.of(b""), cell="t.a.1", index=0, attempt=1)  # type: ignore[arg-type]  # a cell's id is text
TIMING = Timing(lease_ttl_s=30.0, beat_s=5.0, poll_s=0.001)


class Parts:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.signals = MemorySignals()
        self.leases = MemoryLeases(self.clock, self.signals)
        self.leases.open_sweep(SWEEP)
        lease = self.leases.claim(TICKET, "host-1/1/1", 30.0)
        assert isinstance(lease, Lease)
        self.lease = lease

    def pulse(self, leases: object = None, signals: object = None) -> Pulse:
        exchange = Exchange(leases or self.leases, signals or self.signals, MemoryEvents(self.clock), MemoryLiveNotes())  # type: ignore[arg-type]  # doubles of one method
        return Pulse(exchange, TIMING, self.clock, self.lease)


@pytest.fixture
def parts() -> Parts:
    return Parts()


class Silent:
    """A service that does not answer."""

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        raise TransientError(f"no answer about {lease.cell} for {ttl_s} s")

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        raise TransientError(f"no answer about {sweep}")


class Outage:
    """A farm's leases and signals that are away while `is_away`; counts what it answered."""

    def __init__(self, parts: Parts, error: FarmError | None = None) -> None:
        self._parts = parts
        self._error = error or TransientError("no answer")
        self.is_away = False
        self.refusals = 0
        self.renewals = 0
        self.looks = 0

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        self._answer()
        renewal = self._parts.leases.renew(lease, ttl_s)
        self.renewals += 1
        return renewal

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        self._answer()
        self.looks += 1
        return self._parts.signals.stop_reason(sweep)

    def _answer(self) -> None:
        if self.is_away:
            self.refusals += 1
            raise self._error


def test_the_lease_lives_on_as_long_as_the_pulse_beats(parts: Parts) -> None:
    book = Outage(parts)
    with parts.pulse(book, book) as pulse:
        for beat in range(20):
            parts.clock.advance(6.0)
            wait_until(lambda beat=beat: book.renewals > beat)  # type: ignore[misc]  # a default binds the value
        assert pulse.stop_reason() is None
        assert parts.leases.live(SWEEP) == (parts.lease,)


def test_a_lease_lost_in_an_outage_stays_lost_when_the_farm_is_back(parts: Parts) -> None:
    farm = Outage(parts)
    with parts.pulse(farm, farm) as pulse:
        farm.is_away = True
        parts.clock.advance(30.0)
        farm.is_away = False
        seen = farm.looks
        wait_until(lambda: farm.looks > seen + 1)
        assert pulse.stop_reason() is StopReason.LOST_LEASE
        assert not pulse.confirm()


def test_an_order_is_seen_while_the_attempt_runs(parts: Parts) -> None:
    with parts.pulse() as pulse:
        pulse.check()
        parts.signals.order_stop(SWEEP, StopReason.CANCEL)
        wait_until(pulse.must_stop)
        assert pulse.stop_reason() is StopReason.CANCEL
        with pytest.raises(StoppedError):
            pulse.check()


def test_a_silent_redis_costs_the_right_once_the_lease_would_have_ended_and_not_before(parts: Parts) -> None:
    with parts.pulse(Silent(), Silent()) as pulse:
        parts.clock.advance(29.9)
        assert pulse.stop_reason() is None
        parts.clock.advance(0.2)
        assert pulse.stop_reason() is StopReason.LOST_LEASE
        assert not pulse.confirm()


def test_a_farm_that_refuses_a_pulse_does_not_end_it(parts: Parts) -> None:
    farm = Outage(parts, SpecError("renew may not be called: set a user that may"))
    with parts.pulse(farm, farm) as pulse:
        farm.is_away = True
        parts.clock.advance(6.0)
        wait_until(lambda: farm.refusals > 1)
        farm.is_away = False
        wait_until(lambda: farm.renewals == 1)
        assert pulse.stop_reason() is None


def test_a_lost_lease_wins_over_any_order(parts: Parts) -> None:
    parts.signals.order_stop(SWEEP, StopReason.CANCEL)
    with parts.pulse() as pulse:
        wait_until(lambda: pulse.stop_reason() is StopReason.CANCEL)
        parts.leases.announce(TICKET.model_copy(update={"attempt": 2}))
        assert not pulse.confirm()
        assert pulse.stop_reason() is StopReason.LOST_LEASE


def test_a_confirmation_renews(parts: Parts) -> None:
    pulse = parts.pulse()
    parts.clock.advance(20.0)
    assert pulse.confirm()
    parts.clock.advance(20.0)
    assert pulse.stop_reason() is None
    assert parts.leases.live(SWEEP) == (parts.lease,)


def test_with_each_beat_somebody_may_tell_something(parts: Parts) -> None:
    told: list[int] = []
    exchange = Exchange(parts.leases, parts.signals, MemoryEvents(parts.clock), MemoryLiveNotes())
    with Pulse(exchange, TIMING, parts.clock, parts.lease, lambda: told.append(1)):
        wait_until(lambda: len(told) >= 2)


def test_a_workers_own_shutdown_goes_before_the_farms_orders(parts: Parts) -> None:
    flag = ShutdownFlag()
    signals = SignalsOrShutdown(parts.signals, flag, Fitness())
    assert signals.stop_reason(SWEEP) is None
    parts.signals.order_stop(SWEEP, StopReason.CANCEL)
    assert signals.stop_reason(SWEEP) is StopReason.CANCEL
    flag.raise_it()
    assert signals.stop_reason(SWEEP) is StopReason.SHUTDOWN


def test_the_right_counts_from_when_the_lease_was_asked_for(parts: Parts) -> None:
    asked_at = parts.clock.monotonic()
    parts.clock.advance(20.0)  # the store took its time over the claim
    pulse = parts.pulse().since(Claimed(TICKET, parts.lease, asked_at))
    parts.clock.advance(9.9)
    assert pulse.stop_reason() is None
    parts.clock.advance(0.1)
    assert pulse.stop_reason() is StopReason.LOST_LEASE


def test_what_the_claim_was_told_stops_the_cell(parts: Parts) -> None:
    claimed = Claimed(TICKET, parts.lease, parts.clock.monotonic(), StopReason.CANCEL)
    assert parts.pulse().since(claimed).stop_reason() is StopReason.CANCEL
