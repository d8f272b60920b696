"""What a coordinator needs of the world, and how often it looks."""

from dataclasses import dataclass

from farm.ports import (
    BlobStore,
    Clock,
    Dispatcher,
    Events,
    HostRegistry,
    Leadership,
    LeaseBook,
    Queues,
    Records,
    Shares,
    Signals,
)


@dataclass(frozen=True, slots=True)
class CoordinatorPorts:
    """The coordinator's ports."""

    records: Records
    blobs: BlobStore
    leases: LeaseBook
    dispatcher: Dispatcher
    queues: Queues
    shares: Shares
    signals: Signals
    events: Events
    hosts: HostRegistry
    leadership: Leadership
    clock: Clock


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Periods and patience."""

    receive_s: float = 0.2
    leases_s: float = 0.5
    slots_s: float = 1.0
    orders_s: float = 1.0
    """Between looks for cancel.json and close.json."""
    repair_s: float = 5.0
    """Between re-openings of the sweep in the lease book, which is how a wiped one heals."""
    lead_s: float = 5.0
    lead_ttl_s: float = 20.0
    progress_s: float = 0.5
    checkpoint_s: float = 5.0
    absence_s: float = 6.0
    """A lease that is gone this long is lost; more than a heartbeat's period, so that after a wipe it is renewed."""
    overdue_s: float = 5.0
    """With idle slots a ticket that nobody claims is sent again after this, doubling …"""
    overdue_most_s: float = 60.0
    """… up to this, which also holds while every slot is busy."""
    outage_s: float = 1.0
    """Between tries while Redis or the store does not answer."""
