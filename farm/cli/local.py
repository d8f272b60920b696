"""A sweep on this machine: a queue, a worker, the coordinator and the finalizer in one command."""

import os
from dataclasses import dataclass
from pathlib import Path

import click

from farm import bootstrap
from farm.bootstrap import Exchange, Settings
from farm.cli.display import Show, live_display
from farm.cli.drive import Drive, coordinate_in_turn, open_drive, write_cancel
from farm.cli.finishing import conclude, finish
from farm.cli.interrupts import Interrupts
from farm.coordinator.loop import CoordinatorEnd, EndKind
from farm.model import StopReason, SweepId
from farm.ports import Store

INTERRUPTED = 130
OPEN = 6
_WORKER_PATIENCE_S = 3.5


@dataclass(frozen=True, slots=True)
class LocalRun:
    """What a local run was asked for."""

    sweep: SweepId
    store: Store
    settings: Settings
    slots: int
    as_json: bool


def slot_count(slots: int | None) -> int:
    """Take what was asked for, or one slot a processor."""
    return len(os.sched_getaffinity(0)) if slots is None else slots


def log_folder() -> Path:
    """Make the folder of the local worker's logs; OSError when it can't be."""
    folder = Path.cwd() / ".farm" / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def go_on(ctx: click.Context, run: LocalRun) -> None:
    """Run what the sweep still lacks, then finalize it and say what came of it."""
    with Interrupts() as interrupts, bootstrap.own_or_embedded_exchange(run.settings) as exchange:
        drive = open_drive(run.sweep, run.store, exchange)
        with live_display(quiet=run.as_json) as show:
            end = _work(run, drive, interrupts, show)
        if interrupts.asked_to_cancel:
            write_cancel(run.sweep, "a second interrupt", run.store.records, drive.clock.now())
        if end.kind is EndKind.CLOSED or interrupts.asked_to_cancel:
            conclude_here(ctx, run, exchange, interrupted=interrupts.asked_to_stop)
    click.echo(f"{run.sweep} is open; go on with:  farm resume {run.sweep}", err=True)
    ctx.exit(INTERRUPTED if end.kind is EndKind.INTERRUPTED else OPEN)


def conclude_here(ctx: click.Context, run: LocalRun, exchange: Exchange, *, interrupted: bool) -> None:
    """Finalize and print; an interrupted run ends with its own code."""
    done = finish(run.sweep, run.store, exchange)
    try:
        conclude(ctx, run.sweep, run.store, done, as_json=run.as_json)
    finally:
        if interrupted:
            ctx.exit(INTERRUPTED)


def _work(run: LocalRun, drive: Drive, interrupts: Interrupts, show: Show) -> CoordinatorEnd:
    if run.slots == 0:
        return coordinate_in_turn(drive, lambda: interrupts.asked_to_stop, show)
    env = bootstrap.worker_environment(run.settings, drive.exchange.url, run.store.url)
    log = log_folder() / f"{run.sweep}-worker.log"
    with bootstrap.local_worker_process(run.slots, env, log) as worker:

        def should_stop() -> bool:
            worker.tend()
            return interrupts.asked_to_stop

        end = coordinate_in_turn(drive, should_stop, show)
        if end.kind is EndKind.INTERRUPTED:
            drive.exchange.signals.order_stop(run.sweep, StopReason.SHUTDOWN)
            worker.stop(_WORKER_PATIENCE_S)
        return end
