"""What moves between coordinator and workers: tickets, claims, leases, stop orders, hosts, events."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.door import RequestEnd
from farm.model.machine import Machine
from farm.model.names import CellId, SweepId

ANYWHERE = "cells"
"""The queue of tickets that require nothing: every host takes from it."""


class Ticket(Value):
    """The message that offers an attempt to workers: ids and digests only. A hint, never a right."""

    schema_version: Literal[1] = 1
    sweep: SweepId
    plan: Digest
    cell: CellId
    index: Annotated[int, Field(ge=0)]
    attempt: Annotated[int, Field(ge=1)]
    queue: Annotated[str, Field(pattern=r"^cells(-[0-9a-f]{12})?$")] = ANYWHERE
    """What it requires of a host, by digest: the queue that able hosts alone take from."""


class Lease(Value):
    """A worker's time-limited right to an attempt. The attempt number is the fence: it only grows."""

    sweep: SweepId
    cell: CellId
    index: int
    attempt: int
    holder: str
    """`<host>/<process>/<n>`: unique among all that ever claimed."""


class Refusal(StrEnum):
    """Why a claim was refused; each is normal, none is an error."""

    CLOSED = "closed"
    """The sweep is closed, cancelled, or unknown to Redis."""
    PAUSED = "paused"
    """The breaker's pause: the cell lies at or beyond the streak."""
    SETTLED = "settled"
    """The cell has a result."""
    HELD = "held"
    """Another lease of the cell is live."""
    UNABLE = "unable"
    """This host does not offer what the cell's arm requires; another may."""
    STALE = "stale"
    """Not the cell's current attempt."""
    WINDOW = "window"
    """The cell would hardly be done when the sweep's or the host's time window closes."""
    UNFIT = "unfit"
    """This worker takes nothing more, whoever offers it: its host is unhealthy."""
    DRAINED = "drained"
    """This worker takes nothing for now, whoever offers it."""
    FULL = "full"
    """Less of this host's disk is free than its floor."""


class StopReason(StrEnum):
    """Why a running cell must stop."""

    CANCEL = "cancel"
    DEADLINE = "deadline"
    BREAKER = "breaker"
    LOST_LEASE = "lost-lease"
    """Not ordered by anybody: the worker found that it has no right any more; it writes nothing."""
    WINDOW = "window"
    """The sweep's or the host's time window closes: what there is is uploaded, and the cell is deferred."""
    SHUTDOWN = "shutdown"
    """This worker is being stopped; the cell goes back to the coordinator."""
    DRAIN = "drain"
    """This worker's host is drained at once; the cell goes back to the coordinator."""


class Claim(Value):
    """claim.json: who started attempt n, where and when. Written exclusively: it is what makes the fence hold."""

    sweep: SweepId
    cell: CellId
    attempt: int
    holder: str
    host: str
    claimed_at: datetime


class Host(Value):
    """A worker on a machine, as its heartbeat says: the slots of a host's workers add up."""

    id: str
    """`<host>/<process>`: of one worker."""
    slots: int
    """How many cells it takes at once; 0 where it has a problem or is drained."""
    busy: int
    version: str
    sandbox: str
    seen_at: datetime
    offers: tuple[str, ...] = ()
    """What its cells find there: providers with a key, agents' programs at their versions, images."""
    left_s: float | None = None
    """For how long its time window lets cells run, from this beat on; 0: none for now; None: for ever."""
    problem: str | None = None
    """Why it takes nothing more until a person has looked."""
    draining: str | None = None
    """Who drained it; it takes nothing more until it is undrained."""
    order: str | None = None
    """The id of the last order that it has obeyed."""
    machine: Machine | None = None
    skew_s: float | None = None
    """How far its clock is ahead of the lease book's; None: not measured."""

    @property
    def name(self) -> str:
        """Name the machine: orders are for all workers of one."""
        return self.id.partition("/")[0]

    @property
    def hindrance(self) -> str | None:
        """Why it takes nothing; None: it works."""
        return self.problem or self.draining


class EventKind(StrEnum):
    """What a worker tells the coordinator; hints, since the store alone is true."""

    CLAIMED = "claimed"
    FINISHED = "finished"
    PRESSURE = "pressure"
    """The attempt's provider turns requests away, or does not answer."""


class Pressure(Value):
    """What a provider did to an attempt's requests since it was last told."""

    ends: dict[RequestEnd, int]
    """How many requests ended in which way, of those that were not answered."""
    retry_after_s: float | None = None
    """What it last asked us to wait."""


class CellEvent(Value):
    """Something happened to an attempt: look at the store."""

    kind: EventKind
    index: int
    attempt: int
    pressure: Pressure | None = None
    """Of PRESSURE alone."""
