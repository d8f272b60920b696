"""A sweep on this machine: a queue, a worker, the coordinator and the finalizer in one command."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from farm import bootstrap
from farm.bootstrap import Exchange, Settings
from farm.cli.codes import INTERRUPTED, OPEN
from farm.cli.common import answer
from farm.cli.coordinated import coordinated_code
from farm.cli.display import live_display
from farm.cli.drive import Drive, coordinate_in_turn, live_notes, open_drive, write_cancel
from farm.cli.finishing import conclude, finish
from farm.cli.interrupts import Interrupts
from farm.cli.open_end import why_open
from farm.coordinator.loop import CoordinatorEnd, EndKind
from farm.coordinator.queues import QUEUE_TTL_S, CellQueues
from farm.errors import SpecError, TransientError
from farm.finalizer.closing import open_cells, open_shards
from farm.model import Plan, Shard, SweepBudget, SweepId, unserved
from farm.ports import Store

_WORKER_PATIENCE_S = 3.5
_START_PATIENCE_S = 60.0
_START_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class LocalRun:
    """What a local run was asked for."""

    plan: Plan
    """What is to be run; its name is the worker's log's."""
    open_sweep: Callable[[], SweepId]
    """Called when a worker is ready: nothing is stored for a machine that can't run it."""
    store: Store
    settings: Settings
    slots: int | None
    """0 wants no worker here; None leaves the number to the worker's own settings."""
    as_json: bool
    shard: Shard | None = None
    """The part that is run from here; None: all of it."""
    budget: SweepBudget | None = None
    """In the place of the plan's."""
    worker_env: Mapping[str, str] = field(default_factory=dict)
    """What the worker's environment has besides ours."""
    log_folder: Path | None = None
    """Of the worker; None: .farm/logs here."""


@dataclass(frozen=True, slots=True)
class Worked:
    """A sweep that was worked on here, and how its coordinator ended."""

    drive: Drive
    end: CoordinatorEnd


def go_on(ctx: click.Context, run: LocalRun) -> None:
    """Run what the sweep still lacks, then finalize it and say what came of it."""
    with Interrupts() as interrupts, bootstrap.own_or_embedded_exchange(run.settings) as exchange:
        worked = work_off(run, exchange, interrupts)
        if worked is None:
            ctx.exit(INTERRUPTED)
        drive, end = worked.drive, worked.end
        if interrupts.asked_to_cancel:
            write_cancel(drive.sweep, "a second interrupt", run.store.records, drive.clock.now())
        if end.kind is EndKind.CLOSED and not interrupts.asked_to_cancel and run.shard is not None:
            _leave_to_others(ctx, run, drive, end)
        if end.kind is EndKind.CLOSED or interrupts.asked_to_cancel:
            _conclude_here(ctx, run, drive, interrupted=interrupts.asked_to_stop)
    if end.left_open is not None:
        click.echo(f"{drive.sweep}: {why_open(end.left_open, run.plan, drive.clock.now())}", err=True)
    named = "" if run.shard is None else f" --shard {run.shard}"
    click.echo(f"{drive.sweep} is open; go on with:  farm resume {drive.sweep}{named}", err=True)
    ctx.exit(INTERRUPTED if end.kind is EndKind.INTERRUPTED else OPEN)


def work_off(run: LocalRun, exchange: Exchange, interrupts: Interrupts) -> Worked | None:
    """Open the sweep once a worker is here, and run what it still lacks; None when a person did not wait for it."""
    others = frozenset(host.id for host in exchange.hosts.live())
    for needed in CellQueues(run.plan).needed:
        exchange.queues.open(needed, QUEUE_TTL_S)  # so that our worker takes from them from its first moment on
    with _worker(run, exchange) as worker:
        if worker is not None and not _is_ready(worker, exchange, others, interrupts):
            return None
        _ensure_served(run, exchange)
        drive = replace(open_drive(run.open_sweep(), run.store, exchange, run.shard), budget=run.budget)
        return Worked(drive, _coordinate(drive, worker, interrupts, run))


def _ensure_served(run: LocalRun, exchange: Exchange) -> None:
    """Raise SpecError before anything is stored for a sweep that no host which works now can run."""
    lacking = list(unserved(run.plan, exchange.hosts.live()))
    if lacking:
        raise SpecError(
            "; ".join(lacking) + ". An agent's program is installed by ops/agents.sh; a provider needs its key, "
            "or an entry in the file that FARM_PROVIDERS names; an image is brought by `docker pull` or `docker load`, "
            "or pulled by a worker with FARM_DOCKER_PULL=yes"
        )


def _leave_to_others(ctx: click.Context, run: LocalRun, drive: Drive, end: CoordinatorEnd) -> None:
    """End here where other shards are still open; whoever ends last settles the sweep."""
    records = run.store.records
    opening = bootstrap.opening(run.store, drive.sweep)
    if open_cells(opening, run.plan, records) == 0:
        return
    waiting = ", ".join(str(shard) for shard in open_shards(drive.sweep, opening.shards, records))
    reason = "over" if end.close is None else end.close.reason.value
    code = coordinated_code(end)
    answer(
        {"sweep": drive.sweep, "shard": str(run.shard), "end": reason, "open_shards": waiting, "exit_code": code},
        [f"{drive.sweep}: shard {run.shard} is {reason}; the sweep is settled when these have ended: {waiting}"],
        as_json=run.as_json,
    )
    ctx.exit(code)


def _conclude_here(ctx: click.Context, run: LocalRun, drive: Drive, *, interrupted: bool) -> None:
    """Finalize and print; an interrupted run ends with its own code."""
    done = finish(drive.sweep, run.store, drive.exchange)
    try:
        conclude(ctx, drive.sweep, run.store, done, as_json=run.as_json)
    finally:
        if interrupted:
            ctx.exit(INTERRUPTED)


@contextmanager
def _worker(run: LocalRun, exchange: Exchange) -> Iterator[bootstrap.LocalWorker | None]:
    """Start a worker for the block; None when the run wants none here."""
    if run.slots == 0:
        yield None
        return
    env = {**bootstrap.worker_environment(run.settings, exchange.url, run.store.url), **run.worker_env}
    log = (run.log_folder or _log_folder()) / f"{run.plan.name}-worker.log"
    if not run.as_json:
        click.echo(f"starting a worker; its log is {log}", err=True)
    with bootstrap.local_worker_process(run.slots, env, log) as worker:
        yield worker


def _log_folder() -> Path:
    """Make the folder of the local worker's logs, which git is to leave alone; OSError when it can't be."""
    farm = Path.cwd() / ".farm"
    (farm / "logs").mkdir(parents=True, exist_ok=True)
    ignore = farm / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return farm / "logs"


def _is_ready(
    worker: bootstrap.LocalWorker, exchange: Exchange, others: frozenset[str], interrupts: Interrupts
) -> bool:
    """Wait until our worker has proven its sandbox and beats; False when a person did not want to wait.

    `others` are the hosts that were alive before it started.
    """
    clock = bootstrap.clock()
    end = clock.monotonic() + _START_PATIENCE_S
    while not interrupts.asked_to_stop:
        worker.tend()
        if {host.id for host in exchange.hosts.live()} - others:
            break
        if clock.monotonic() > end:
            raise TransientError(f"the worker has not begun to work in {_START_PATIENCE_S:.0f} s; see {worker.log}")
        clock.sleep(_START_LOOK_S)
    return not interrupts.asked_to_stop


def _coordinate(
    drive: Drive, worker: bootstrap.LocalWorker | None, interrupts: Interrupts, run: LocalRun
) -> CoordinatorEnd:
    def should_stop() -> bool:
        if worker is not None:
            worker.tend()
        return interrupts.asked_to_stop

    with live_display(lambda: live_notes(drive), quiet=run.as_json) as show:
        end = coordinate_in_turn(drive, should_stop, show)
    if worker is not None and end.kind is EndKind.INTERRUPTED:
        # it stops its own cells; other hosts' go on
        worker.stop(_WORKER_PATIENCE_S, lambda: interrupts.asked_to_cancel)
    return end
