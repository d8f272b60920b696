"""A lease book on a given clock, with the rules of the port."""

import threading
from dataclasses import dataclass, field
from datetime import datetime

from farm.adapters.memory.coordination import MemorySignals
from farm.model import CellId, Lease, Refusal, SweepId, Ticket
from farm.ports import Clock, Renewal, Signals


@dataclass(slots=True)
class _Entry:
    """What the book knows of one cell."""

    attempt: int = 0
    """The highest that was announced, claimed or renewed."""
    is_settled: bool = False
    lease: Lease | None = None
    """The last one, also when it has ended: its holder is the only one who may renew that attempt."""
    deadline_s: float = 0.0

    def forget(self) -> None:
        """Keep nothing but that the cell has a result."""
        self.attempt, self.lease, self.deadline_s = 0, None, 0.0


@dataclass(slots=True)
class _Sweep:
    """What the book knows of one sweep."""

    is_open: bool = False
    paused_from: int | None = None
    cells: dict[CellId, _Entry] = field(default_factory=dict)

    def entry(self, cell: CellId) -> _Entry:
        return self.cells.setdefault(cell, _Entry())


class MemoryLeases:
    """Leases on `clock`'s monotonic time; stop orders come from `signals`."""

    def __init__(self, clock: Clock, signals: Signals | None = None) -> None:
        self._clock = clock
        self._signals = MemorySignals() if signals is None else signals
        self._sweeps: dict[SweepId, _Sweep] = {}
        self._lock = threading.Lock()  # makes each method one step

    def now(self) -> datetime:
        return self._clock.now()

    def open_sweep(self, sweep: SweepId, paused_from: int | None = None) -> None:
        with self._lock:
            known = self._sweep(sweep)
            known.is_open, known.paused_from = True, paused_from

    def close_sweep(self, sweep: SweepId) -> None:
        with self._lock:
            self._sweep(sweep).is_open = False

    def announce(self, ticket: Ticket) -> None:
        with self._lock:
            entry = self._sweep(ticket.sweep).entry(ticket.cell)
            entry.attempt = max(entry.attempt, ticket.attempt)

    def settle(self, sweep: SweepId, cell: CellId, index: int) -> None:  # noqa: ARG002 (the port's)
        with self._lock:
            entry = self._sweep(sweep).entry(cell)
            entry.is_settled = True
            if not self._is_live(entry):
                entry.forget()

    def claim(self, ticket: Ticket, holder: str, ttl_s: float) -> Lease | Refusal:
        with self._lock:
            known = self._sweep(ticket.sweep)
            entry = known.cells.get(ticket.cell, _Entry())
            refusal = self._refusal(known, entry, ticket, holder)
            if refusal is not None:
                return refusal
            lease = Lease(
                sweep=ticket.sweep, cell=ticket.cell, index=ticket.index, attempt=ticket.attempt, holder=holder
            )
            self._grant(known, lease, ttl_s)
            return lease

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        with self._lock:
            known = self._sweep(lease.sweep)
            entry = known.entry(lease.cell)
            last = entry.lease
            is_taken = last is not None and last.attempt == lease.attempt and last.holder != lease.holder
            is_over = last is None and entry.is_settled
            is_held = entry.attempt <= lease.attempt and not is_taken and not is_over
            if is_held:
                self._grant(known, lease, ttl_s)
        return Renewal(is_held=is_held, stop=self._signals.stop_reason(lease.sweep))

    def release(self, lease: Lease) -> None:
        with self._lock:
            entry = self._sweep(lease.sweep).cells.get(lease.cell)
            if entry is not None and entry.lease == lease:
                entry.deadline_s = 0.0
                if entry.is_settled:
                    entry.forget()

    def live(self, sweep: SweepId) -> tuple[Lease, ...]:
        with self._lock:
            entries = self._sweep(sweep).cells.values()
            leases = [entry.lease for entry in entries if entry.lease is not None and self._is_live(entry)]
        return tuple(sorted(leases, key=lambda lease: lease.index))

    def forget(self, sweep: SweepId) -> None:
        with self._lock:
            self._sweeps.pop(sweep, None)

    def _sweep(self, sweep: SweepId) -> _Sweep:
        return self._sweeps.setdefault(sweep, _Sweep())

    def _refusal(self, known: _Sweep, entry: _Entry, ticket: Ticket, holder: str) -> Refusal | None:
        if not known.is_open:
            return Refusal.CLOSED
        if known.paused_from is not None and ticket.index >= known.paused_from:
            return Refusal.PAUSED
        if entry.is_settled:
            return Refusal.SETTLED
        if ticket.attempt < entry.attempt:
            return Refusal.STALE
        last = entry.lease
        is_ours = last is not None and (last.attempt, last.holder) == (ticket.attempt, holder)
        return Refusal.HELD if self._is_live(entry) and not is_ours else None

    def _grant(self, known: _Sweep, lease: Lease, ttl_s: float) -> None:
        entry = known.entry(lease.cell)
        entry.attempt = lease.attempt
        entry.lease = lease
        entry.deadline_s = self._clock.monotonic() + ttl_s

    def _is_live(self, entry: _Entry) -> bool:
        return entry.deadline_s > self._clock.monotonic()
