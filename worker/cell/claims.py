"""The claim: the lease first, then what the store says, then claim.json, which makes the fence hold; then the close."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import structlog

from farm.errors import FarmError, TransientError
from farm.model import CellEvent, Claim, EventKind, Lease, Refusal, StopReason, Ticket, canonical_json
from farm.model.keys import cancel_key, claim_key, close_key, result_key
from worker.cell.hours import Room
from worker.cell.ports import Claimed, Exchange, LinePorts, Place, Timing
from worker.health.fitness import Rest

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Claims:
    """Takes attempts for one place."""

    ports: LinePorts
    place: Place
    timing: Timing
    holders: Iterator[str]
    lacks: Callable[[Ticket], frozenset[str]]
    """Say what the ticket's cell needs and this host does not offer."""
    room: Callable[[Ticket], Room]
    """Say how much time the ticket's cell has here, and what it needs."""

    def take(self, ticket: Ticket) -> Claimed | Refusal:
        """Claim the ticket's attempt, or say why not; every refusal is normal. What raises has taken nothing."""
        refusal = self._host_refuses(ticket)
        if refusal is not None:
            return refusal
        room, asked_at = self.room(ticket), self.ports.clock.monotonic()
        if not room.is_enough:
            return Refusal.WINDOW
        lease = self.ports.exchange.leases.claim(ticket, next(self.holders), self.timing.lease_ttl_s)
        if isinstance(lease, Refusal):
            return lease
        with ExitStack() as untaken:
            untaken.callback(release, self.ports.exchange, lease)
            refusal = self._store_refuses(ticket) or self._write_claim(ticket, lease)
            if refusal is not None:
                return refusal
            untaken.pop_all()
        tell(self.ports.exchange, lease, EventKind.CLAIMED)
        until_s = None if room.left_s is None else asked_at + room.left_s
        return Claimed(ticket, lease, asked_at, self._came_too_late(ticket), until_s)

    def _host_refuses(self, ticket: Ticket) -> Refusal | None:
        if self.ports.fitness.problem is not None:
            return Refusal.UNFIT
        if self.ports.fitness.rest is not Rest.NONE:
            return Refusal.DRAINED
        shortage = self.place.floor.shortage(self.place.root)
        if shortage is not None:
            _log.warning("ticket.unserved", cell=ticket.cell, sweep=ticket.sweep, shortage=shortage)
            return Refusal.FULL
        lacking = self.lacks(ticket)
        if lacking:
            _log.warning("ticket.unserved", cell=ticket.cell, sweep=ticket.sweep, lacking=sorted(lacking))
        return Refusal.UNABLE if lacking else None

    def _store_refuses(self, ticket: Ticket) -> Refusal | None:
        read = self.ports.truth.records.read
        if read(close_key(ticket.sweep)) is not None or read(cancel_key(ticket.sweep)) is not None:
            return Refusal.CLOSED
        return Refusal.SETTLED if read(result_key(ticket.sweep, ticket.cell)) is not None else None

    def _came_too_late(self, ticket: Ticket) -> StopReason | None:
        """Look whether the sweep was closed while we claimed; an unknown answer counts as yes.

        Who settles reads the claims after the close, so it knows every claim that saw none: also without the lease
        book, which may have been wiped. The others are handed back.
        """
        try:
            is_open = self.ports.truth.records.read(close_key(ticket.sweep)) is None
        except TransientError:
            is_open = False
        return None if is_open else StopReason.CANCEL

    def _write_claim(self, ticket: Ticket, lease: Lease) -> Refusal | None:
        claim = Claim(
            sweep=ticket.sweep,
            cell=ticket.cell,
            attempt=ticket.attempt,
            holder=lease.holder,
            host=self.place.host,
            claimed_at=self.ports.clock.now(),
        )
        key = claim_key(ticket.sweep, ticket.cell, ticket.attempt)
        return None if self.ports.truth.records.create(key, canonical_json(claim)) else Refusal.STALE


def release(exchange: Exchange, lease: Lease) -> None:
    """Give a lease up; one that Redis does not take back ends by itself."""
    with suppress(FarmError):
        exchange.leases.release(lease)


def tell(exchange: Exchange, lease: Lease, kind: EventKind) -> None:
    """Hint to the coordinator; a hint may be lost, so a Redis that does not take it is no reason to stop."""
    with suppress(FarmError):
        exchange.events.publish(lease.sweep, CellEvent(kind=kind, index=lease.index, attempt=lease.attempt))
