"""Protocols that the farm's parts ask for: the narrowest that serves. Implementations are in farm.adapters."""

from farm.ports.blobs import BlobStore
from farm.ports.clock import Clock
from farm.ports.events import Events
from farm.ports.hosts import DrainOrders, HostRegistry
from farm.ports.leadership import Leadership
from farm.ports.leases import LeaseBook, Renewal
from farm.ports.live import LiveNotes
from farm.ports.queue import Dispatcher, Queues
from farm.ports.records import Records, read_required
from farm.ports.shares import Shares
from farm.ports.signals import Signals
from farm.ports.store import Store, StoreAccess

__all__ = [
    "BlobStore",
    "Clock",
    "Dispatcher",
    "DrainOrders",
    "Events",
    "HostRegistry",
    "Leadership",
    "LeaseBook",
    "LiveNotes",
    "Queues",
    "Records",
    "Renewal",
    "Shares",
    "Signals",
    "Store",
    "StoreAccess",
    "read_required",
]
