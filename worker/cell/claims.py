"""The claim: the lease first, then what the store says, then claim.json, which makes the fence hold."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import structlog

from farm.errors import FarmError
from farm.model import CellEvent, Claim, EventKind, Lease, Refusal, Ticket, canonical_json
from farm.model.keys import cancel_key, claim_key, close_key, result_key
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

    def take(self, ticket: Ticket) -> Claimed | Refusal:
        """Claim the ticket's attempt, or say why not; every refusal is normal. What raises has taken nothing."""
        if self.ports.fitness.problem is not None:
            return Refusal.UNFIT
        if self.ports.fitness.rest is not Rest.NONE:
            return Refusal.DRAINED
        lacking = self.lacks(ticket)
        if lacking:
            _log.warning("ticket.unserved", cell=ticket.cell, sweep=ticket.sweep, lacking=sorted(lacking))
            return Refusal.UNABLE
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
        return Claimed(ticket, lease)

    def _store_refuses(self, ticket: Ticket) -> Refusal | None:
        read = self.ports.truth.records.read
        if read(close_key(ticket.sweep)) is not None or read(cancel_key(ticket.sweep)) is not None:
            return Refusal.CLOSED
        return Refusal.SETTLED if read(result_key(ticket.sweep, ticket.cell)) is not None else None

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
