"""Every port in the process's own memory: for tests, and for whoever embeds the farm in one process."""

from farm.adapters.memory.coordination import (
    MemoryDrainOrders,
    MemoryEvents,
    MemoryHosts,
    MemoryLeadership,
    MemoryLiveNotes,
    MemorySignals,
)
from farm.adapters.memory.dispatcher import MemoryDispatcher
from farm.adapters.memory.leases import MemoryLeases
from farm.adapters.memory.queues import MemoryQueues
from farm.adapters.memory.shares import MemoryShares
from farm.adapters.memory.store import MemoryStore

__all__ = [
    "MemoryDispatcher",
    "MemoryDrainOrders",
    "MemoryEvents",
    "MemoryHosts",
    "MemoryLeadership",
    "MemoryLeases",
    "MemoryLiveNotes",
    "MemoryQueues",
    "MemoryShares",
    "MemorySignals",
    "MemoryStore",
]
