"""Coordinating one sweep from a terminal: signals, display, and what its end means."""

import os
import pwd
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import click

from farm import bootstrap
from farm.bootstrap import Exchange
from farm.coordinator.loop import Coordinator, CoordinatorEnd
from farm.coordinator.mandate import Mandate
from farm.coordinator.ports import CoordinatorPorts, Rhythm
from farm.coordinator.progress import Progress
from farm.coordinator.submit import ShardPlace, submit, submit_shard
from farm.errors import ConflictError, TransientError
from farm.model import Cancel, LiveNote, Plan, Shard, SweepBudget, SweepId, canonical_json
from farm.model.keys import cancel_key
from farm.ports import Clock, Records, Store

_LEAD_PATIENCE_S = 25.0
"""Longer than a dead coordinator's lead lasts."""
_LEAD_RETRY_S = 0.5


@dataclass(frozen=True, slots=True)
class Drive:
    """A sweep, and all that coordinating it needs."""

    sweep: SweepId
    store: Store
    exchange: Exchange
    clock: Clock
    shard: Shard | None = None
    """The part that is coordinated from here; None: all of it."""
    budget: SweepBudget | None = None
    """In the place of the plan's."""


def submitter() -> str:
    """Name who submits: user and host, for the record."""
    uid = os.getuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:  # a container's user without an entry
        user = str(uid)
    return f"{user}@{socket.gethostname()}"


def holder() -> str:
    """Name this process among all that may ever lead a sweep."""
    return f"{socket.gethostname()}/{os.getpid()}/{os.times().elapsed:.2f}"


def live_notes(drive: Drive) -> tuple[LiveNote, ...]:
    """Look how far running sessions are; nothing is known of them while Redis does not answer."""
    try:
        return drive.exchange.live.all(drive.sweep)
    except TransientError:
        return ()


def coordinate(
    drive: Drive, should_stop: Callable[[], bool], show: Callable[[Progress], None], rhythm: Rhythm | None = None
) -> CoordinatorEnd:
    """Lead the sweep until it ends or `should_stop`; raises ConflictError while another coordinator leads it."""
    exchange = drive.exchange
    ports = CoordinatorPorts(
        records=drive.store.records,
        blobs=drive.store.blobs,
        leases=exchange.leases,
        dispatcher=exchange.dispatcher,
        queues=exchange.queues,
        shares=exchange.shares,
        signals=exchange.signals,
        events=exchange.events,
        hosts=exchange.hosts,
        leadership=exchange.leadership,
        clock=drive.clock,
    )
    return Coordinator(drive.sweep, holder(), ports, rhythm, Mandate(drive.shard, drive.budget)).run(should_stop, show)


def coordinate_in_turn(
    drive: Drive, should_stop: Callable[[], bool], show: Callable[[Progress], None]
) -> CoordinatorEnd:
    """As coordinate, but wait for the lead that a killed coordinator may have left to expire."""
    started = drive.clock.monotonic()
    told = False
    while True:
        try:
            return coordinate(drive, should_stop, show)
        except ConflictError:
            if should_stop() or drive.clock.monotonic() - started > _LEAD_PATIENCE_S:
                raise
        if not told:
            click.echo(f"{drive.sweep}: waiting for an earlier coordinator's lead to end", err=True)
            told = True
        drive.clock.sleep(_LEAD_RETRY_S)


def write_cancel(sweep: SweepId, reason: str, records: Records, now: datetime) -> bool:
    """Record that a person wants the sweep to end; False when somebody had said so before."""
    return records.create(cancel_key(sweep), canonical_json(Cancel(sweep=sweep, reason=reason, cancelled_at=now)))


def open_drive(sweep: SweepId, store: Store, exchange: Exchange, shard: Shard | None = None) -> Drive:
    """Put together what coordinating needs."""
    return Drive(sweep, store, exchange, bootstrap.clock(), shard)


def open_sweep(plan: Plan, edition: int | None, shard: Shard | None, records: Records) -> SweepId:
    """Submit the plan, or one shard of it: of the first edition, unless another is named."""
    clock = bootstrap.clock()
    if shard is None:
        return submit(plan, edition, records, submitter(), clock)
    return submit_shard(plan, ShardPlace(shard, edition or 1), records, submitter(), clock)
