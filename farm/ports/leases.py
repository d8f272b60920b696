"""Leases: a worker's time-limited right to an attempt, on the lease book's own clock.

All of it may be lost (a wiped Redis) and is rebuilt from the records: the claim records make the fence hold.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from farm.model import CellId, Lease, Refusal, StopReason, SweepId, Ticket


@dataclass(frozen=True, slots=True)
class Renewal:
    """A heartbeat's reply: whether the right still stands, and whether to stop all the same."""

    is_held: bool
    stop: StopReason | None = None


class LeaseBook(Protocol):
    """Who may work on what, now. Every method may raise TransientError when the book does not answer."""

    def now(self) -> datetime:
        """Say what time it is on the book's clock, by which time windows are judged."""
        ...

    def open_sweep(self, sweep: SweepId, paused_from: int | None = None) -> None:
        """Let claims of the sweep through, but for cells whose index is at least `paused_from`, in one step.

        Idempotent; also the way back after a wipe.
        """
        ...

    def close_sweep(self, sweep: SweepId) -> None:
        """Refuse every claim from now on. Leases that are live stay so."""
        ...

    def announce(self, ticket: Ticket) -> None:
        """Make the ticket's attempt the cell's current one; older attempts can't be claimed or renewed any more."""
        ...

    def settle(self, sweep: SweepId, cell: CellId, index: int) -> None:
        """Note that the cell has a result: no claim of it succeeds again, and a lease that has ended stays ended.

        What else the book knows of the cell it forgets, so that it grows with what runs and not with the sweep.
        """
        ...

    def claim(self, ticket: Ticket, holder: str, ttl_s: float) -> Lease | Refusal:
        """Take the attempt's lease for `ttl_s`, atomically, or say why not.

        An attempt that was never announced (the book was wiped) may be claimed when no newer one is known.
        """
        ...

    def renew(self, lease: Lease, ttl_s: float) -> Renewal:
        """Extend the lease; one that is missing is made again, unless something speaks against it.

        That is another holder of the attempt, a newer attempt, or a result of the cell.
        """
        ...

    def release(self, lease: Lease) -> None:
        """End the lease, if this holder still has it."""
        ...

    def live(self, sweep: SweepId) -> tuple[Lease, ...]:
        """List the leases that have not expired."""
        ...

    def forget(self, sweep: SweepId) -> None:
        """Drop all that the book knows of a sealed sweep; an unknown sweep refuses claims."""
        ...
