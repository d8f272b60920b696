"""Signals, hosts, events, leadership and live notes in memory."""

import threading
import time
from collections import defaultdict
from dataclasses import dataclass

from farm.model import CellEvent, CellId, DrainOrder, Host, LiveNote, StopReason, SweepId
from farm.ports import Clock


class MemorySignals:
    """Stop orders in a dict."""

    def __init__(self) -> None:
        self._reasons: dict[SweepId, StopReason] = {}

    def order_stop(self, sweep: SweepId, reason: StopReason) -> None:
        self._reasons[sweep] = reason

    def withdraw_stop(self, sweep: SweepId) -> None:
        self._reasons.pop(sweep, None)

    def stop_reason(self, sweep: SweepId) -> StopReason | None:
        return self._reasons.get(sweep)


@dataclass(frozen=True, slots=True)
class _Beat:
    host: Host
    until_s: float


class MemoryHosts:
    """Heartbeats on `clock`'s monotonic time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._beats: dict[str, _Beat] = {}
        self._lock = threading.Lock()  # guards _beats

    def beat(self, host: Host, ttl_s: float) -> None:
        with self._lock:
            self._beats[host.id] = _Beat(host, self._clock.monotonic() + ttl_s)

    def live(self) -> tuple[Host, ...]:
        now = self._clock.monotonic()
        with self._lock:
            self._beats = {name: beat for name, beat in self._beats.items() if beat.until_s > now}
            return tuple(self._beats[name].host for name in sorted(self._beats))


class MemoryDrainOrders:
    """Orders in a dict."""

    def __init__(self) -> None:
        self._orders: dict[str, DrainOrder] = {}

    def give(self, host: str, order: DrainOrder) -> None:
        self._orders[host] = order

    def last(self, host: str) -> DrainOrder | None:
        return self._orders.get(host)


class MemoryEvents:
    """Queues of hints. Waiting is real, unless a `clock` is given to wait on."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._queues: defaultdict[SweepId, list[CellEvent]] = defaultdict(list)
        self._arrived = threading.Condition()  # guards _queues

    def publish(self, sweep: SweepId, event: CellEvent) -> None:
        with self._arrived:
            self._queues[sweep].append(event)
            self._arrived.notify_all()

    def receive(self, sweep: SweepId, timeout_s: float) -> tuple[CellEvent, ...]:
        if self._clock is not None and not self._queues[sweep]:
            self._clock.sleep(timeout_s)
            timeout_s = 0
        until = time.monotonic() + timeout_s
        with self._arrived:
            while not self._queues[sweep] and (left := until - time.monotonic()) > 0:
                self._arrived.wait(left)
            return tuple(self._queues.pop(sweep, ()))


@dataclass(frozen=True, slots=True)
class _Lead:
    holder: str
    until_s: float


class MemoryLeadership:
    """Leads on `clock`'s monotonic time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leads: dict[SweepId, _Lead] = {}
        self._lock = threading.Lock()  # makes looking and taking one step

    def lead(self, sweep: SweepId, holder: str, ttl_s: float) -> bool:
        now = self._clock.monotonic()
        with self._lock:
            lead = self._leads.get(sweep)
            if lead is not None and lead.holder != holder and lead.until_s > now:
                return False
            self._leads[sweep] = _Lead(holder, now + ttl_s)
            return True

    def resign(self, sweep: SweepId, holder: str) -> None:
        with self._lock:
            lead = self._leads.get(sweep)
            if lead is not None and lead.holder == holder:
                del self._leads[sweep]


class MemoryLiveNotes:
    """Notes in a dict."""

    def __init__(self) -> None:
        self._notes: defaultdict[SweepId, dict[CellId, LiveNote]] = defaultdict(dict)

    def tell(self, sweep: SweepId, note: LiveNote) -> None:
        self._notes[sweep][note.cell] = note

    def drop(self, sweep: SweepId, cell: CellId) -> None:
        self._notes[sweep].pop(cell, None)

    def all(self, sweep: SweepId) -> tuple[LiveNote, ...]:
        notes = dict(self._notes[sweep])
        return tuple(notes[cell] for cell in sorted(notes))
