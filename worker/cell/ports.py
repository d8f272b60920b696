"""What the line is given: ports, a place, and its timing. Nothing below reads a setting."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from farm.model import Lease, PluginGroup, StopReason, SweepId, Ticket
from farm.ports import BlobStore, Clock, Events, LeaseBook, LiveNotes, Records
from farm.redaction import Redactor
from sandbox.spec import Sandbox
from worker.agents.installed import InstalledPrograms
from worker.gateway import Gateway, Upstream
from worker.health.fitness import Fitness
from worker.health.floor import Floor
from worker.health.host_hours import HostHours
from worker.translator import Translator


class PluginSource(Protocol):
    """Gives plug-in classes by group and name."""

    def load(self, group: PluginGroup, name: str) -> Callable[..., Any]: ...


class StopOrders(Protocol):
    """What a worker asks of the farm's signals. May raise TransientError."""

    def stop_reason(self, sweep: SweepId) -> StopReason | None: ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """What may be lost: leases, stop orders, hints."""

    leases: LeaseBook
    signals: StopOrders
    events: Events
    live: LiveNotes


@dataclass(frozen=True, slots=True)
class Truth:
    """What may not be lost: blobs and records."""

    blobs: BlobStore
    records: Records


@dataclass(frozen=True, slots=True)
class Timing:
    """How a lease is kept: its length, how often it is renewed, how often stop orders are looked for."""

    lease_ttl_s: float = 30.0
    beat_s: float = 5.0
    poll_s: float = 0.25


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line works: host, slot, work root, the unique beginning of its holder names, its sandbox's name."""

    host: str
    slot: int
    root: Path
    holder: str
    sandbox: str = "bubblewrap"
    hours: HostHours = field(default_factory=HostHours)
    """When the host may work."""
    floor: Floor = field(default_factory=Floor)
    """What must be free of its disk before a cell begins."""


@dataclass(frozen=True, slots=True)
class DoorPorts:
    """What sessions need that ask a model."""

    gateway: Gateway
    upstream: Callable[[str], Upstream]
    """Give a provider by its name; raise TransientError when this host does not reach it."""
    offers: Callable[[], tuple[str, ...]]
    """Say what sessions find here: providers that are reached, agents' programs, images."""
    programs: InstalledPrograms
    """The CLIs of agents that this host has."""
    translator: Translator


@dataclass(frozen=True, slots=True)
class LinePorts:
    """All that the line asks for."""

    exchange: Exchange
    truth: Truth
    sandbox: Sandbox
    plugins: PluginSource
    clock: Clock
    fitness: Fitness
    redactor: Redactor
    doors: DoorPorts


@dataclass(frozen=True, slots=True)
class Claimed:
    """An attempt that is ours: the lease is held and claim.json is written."""

    ticket: Ticket
    lease: Lease
    asked_at: float
    """When the lease was asked for: the right counts from here, however long the store took over the claim."""
    stop: StopReason | None = None
    """Why it must not be worked on after all."""
    until_s: float | None = None
    """When its time window closes, on the worker's monotonic clock; None: never."""
