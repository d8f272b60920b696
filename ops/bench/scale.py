"""How the farm grows with a sweep: the real coordinator, Celery's queue, Redis and the files store; simulated workers.

    python ops/bench/scale.py [--cells 1000 10000 [100000]] [--filled 0] [--folder /dev/shm] [--json]

A process plays 64 slots whose cells take no time: it takes tickets from the queue, claims, writes the four records of
an attempt, gives its hint, releases. Another one coordinates. When one cell of the sweep is left, the coordinator is
told to stop. Printed for each size: the coordinator's CPU a cell and its memory, what Redis held in the middle and at
the end beyond what it held empty, how long taking the sweep up again lasts until it dispatches (with its checkpoint
and without), and `farm status` as a command. The store is in memory where /dev/shm is: no disk is measured. With
`--filled 95` so many of a hundred cells have their records before, as if an earlier run had left no checkpoint: the
rest shows what a cell costs in a sweep of that size, in a fraction of the time.
"""

import argparse
import base64
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import measure
import redis
import structlog

sys.path.insert(0, str(Path(__file__).parents[2]))

from farm import bootstrap
from farm.adapters import embedded
from farm.adapters.files import open_store
from farm.cli import drive
from farm.coordinator.loop import EndKind
from farm.coordinator.progress import Progress
from farm.coordinator.queues import CellQueues
from farm.coordinator.submit import submit
from farm.model import (
    AttemptCleanup,
    CellEvent,
    Claim,
    Digest,
    EventKind,
    Host,
    Lease,
    Outcome,
    Plan,
    SweepId,
    Ticket,
    canonical_json,
    result_of,
)
from farm.model.keys import attempt_cleanup_key, attempts_prefix, claim_key, outcome_key, result_key, results_prefix
from farm.ports import Records, StoreAccess
from tests.builders.sweeps import a_plan, evidence

_SLOTS = 64
_TTL_S = 60.0
_EVIDENCE = evidence()
_BAR_RESUME_S = 5.0
_BAR_STATUS_S = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where one sweep runs."""

    redis_url: str
    store_url: str
    sweep: SweepId
    missing: int
    """The cell that no simulated worker takes."""


@dataclass(frozen=True, slots=True)
class Coordinated:
    """What one coordinator's run cost."""

    cells: int
    """Done from the moment when it began to dispatch."""
    cpu_s: float
    """Since then."""
    dispatch_s: float
    """Since then."""
    start: measure.Cost
    """Until then: connecting, and taking in what was recorded."""
    most_mib: float


@dataclass(frozen=True, slots=True)
class Row:
    """One size's numbers."""

    cells: int
    cells_per_s: float
    coordinator_cpu_ms: float
    coordinator_mib: float
    redis_middle_kib: float
    redis_end_kib: float
    resume: measure.Cost
    resume_without: measure.Cost
    status: measure.Cost

    @property
    def holds(self) -> bool:
        return self.resume.wall_s < _BAR_RESUME_S and self.status.wall_s < _BAR_STATUS_S


def quietly() -> None:
    """Log nothing: a child's output is no part of the report."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))


def play_workers(place: Place, plan: Plan) -> None:
    """Be 64 slots until somebody ends this process."""
    quietly()
    exchange, records = bootstrap.connect(place.redis_url), open_store(place.store_url, StoreAccess()).records
    queues = sorted({f"farm:celery:{CellQueues(plan).of(cell)}" for cell in plan.cells[: 2 * len(plan.arms)]})
    client = redis.Redis.from_url(place.redis_url, decode_responses=True)
    beaten_s = 0.0
    while True:
        if time.monotonic() - beaten_s > _TTL_S / 4:
            host = Host(id="host/1", slots=_SLOTS, busy=0, version="1", sandbox="bubblewrap", seen_at=datetime.now(UTC))
            exchange.hosts.beat(host, _TTL_S)
            beaten_s = time.monotonic()
        messages = [message for queue in queues for message in client.rpop(queue, _SLOTS) or ()]
        for message in messages:
            (raw,), _, _ = json.loads(base64.b64decode(json.loads(message)["body"]))
            ticket = Ticket.model_validate(raw)
            if ticket.index != place.missing:
                work(ticket, exchange, records)
        if not messages:
            time.sleep(0.002)


def work(ticket: Ticket, exchange: bootstrap.Exchange, records: Records) -> None:
    """Take one attempt through the protocol."""
    lease = exchange.leases.claim(ticket, f"host/1/{ticket.index}", _TTL_S)
    if not isinstance(lease, Lease):
        return
    records_of = attempt_records(ticket, lease.holder, datetime.now(UTC))
    event = CellEvent(kind=EventKind.CLAIMED, index=ticket.index, attempt=ticket.attempt)
    for key, body in records_of.items():
        records.create(key, body)
        if key.endswith("claim.json"):
            exchange.events.publish(ticket.sweep, event)
        elif "/results/" in key:
            exchange.events.publish(ticket.sweep, event.model_copy(update={"kind": EventKind.FINISHED}))
    exchange.leases.release(lease)


def attempt_records(ticket: Ticket, holder: str, now: datetime) -> dict[str, bytes]:
    """Make what an attempt leaves, in the order in which it is written."""
    sweep, cell, attempt = ticket.sweep, ticket.cell, ticket.attempt
    claim = Claim(sweep=sweep, cell=cell, attempt=attempt, holder=holder, host="host", claimed_at=now)
    outcome = Outcome(
        sweep=sweep,
        plan=ticket.plan,
        cell=cell,
        attempt=attempt,
        host="host",
        holder=holder,
        started_at=now,
        ended_at=now,
        evidence=_EVIDENCE,
    )
    body = canonical_json(outcome)
    return {
        claim_key(sweep, cell, attempt): canonical_json(claim),
        outcome_key(sweep, cell, attempt): body,
        result_key(sweep, cell): canonical_json(result_of(outcome, Digest.of(body))),
        attempt_cleanup_key(sweep, cell, attempt): canonical_json(
            AttemptCleanup(cell=cell, attempt=attempt, done=True)
        ),
    }


def coordinate(place: Place, is_enough: Callable[[int], bool], told: Connection) -> None:
    """Coordinate until `is_enough` of the cells that are done, and tell what it cost."""
    quietly()
    began_s, cpu_s = time.monotonic(), time.process_time()
    exchange, store = bootstrap.connect(place.redis_url), open_store(place.store_url, StoreAccess())
    seen = list[tuple[int, float, float]]()

    def see(progress: Progress) -> None:
        seen.append((progress.done, time.monotonic(), time.process_time()))
        told.send(progress.done)

    opened = drive.open_drive(place.sweep, store, exchange)
    end = drive.coordinate(opened, lambda: is_enough(seen[-1][0] if seen else 0), see)
    if end.kind is not EndKind.INTERRUPTED:
        raise RuntimeError(f"the sweep ended as {end.kind}, and one cell is missing")
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (first, first_s, first_cpu_s), (last, last_s, last_cpu_s) = seen[0], seen[-1]
    start = measure.Cost(first_s - began_s, first_cpu_s - cpu_s)
    told.send(Coordinated(last - first, last_cpu_s - first_cpu_s, last_s - first_s, start, most_mib))


@dataclass(frozen=True, slots=True)
class AllButOne:
    """Enough when one cell is left."""

    cells: int

    def __call__(self, done: int) -> bool:
        return done >= self.cells - 1


def coordinated(place: Place, cells: int, see: Callable[[int], None]) -> Coordinated:
    """Coordinate in a process of its own, so that its CPU and memory are its alone."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe(duplex=False)
    process = spawning.Process(target=coordinate, args=(place, AllButOne(cells), theirs))
    process.start()
    theirs.close()
    while True:
        said = ours.recv()
        if isinstance(said, Coordinated):
            process.join()
            return said
        see(said)


@contextmanager
def workers(place: Place, plan: Plan) -> Iterator[None]:
    """Run the simulated workers for the length of the block."""
    process = multiprocessing.get_context("spawn").Process(target=play_workers, args=(place, plan), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def status_cost(place: Place) -> measure.Cost:
    """Time the command, three times; give the middle one."""
    env = dict(os.environ) | {"FARM_REDIS_URL": place.redis_url, "FARM_STORE": place.store_url}  # noqa: TID251 (a bench)
    argv = (str(Path(sys.executable).with_name("farm")), "status", place.sweep)

    def run() -> None:
        subprocess.run(argv, env=env, check=True, capture_output=True)  # noqa: S603 (our own command)

    return sorted((measure.cost_of(run) for _ in range(3)), key=lambda cost: cost.wall_s)[1]


def fill(place: Place, plan: Plan, cells: int) -> None:
    """Leave the records of the first cells, as plain files: what writing them costs is not measured here."""
    root = Path(place.store_url.removeprefix("file://"))
    now = datetime.now(UTC)
    for cell in (cell for index, cell in enumerate(plan.cells[:cells]) if index != place.missing):
        made = attempt_records(Ticket(sweep=place.sweep, plan=plan.digest, cell=cell.id, index=0, attempt=1), "h", now)
        (root / attempts_prefix(place.sweep) / cell.id / "1").mkdir(parents=True)
        (root / results_prefix(place.sweep)).mkdir(exist_ok=True)
        for key, body in made.items():
            (root / key).write_bytes(body)


def measured(cells: int, filled: int, folder: Path) -> Row:
    """Run one sweep and measure it."""
    folder.mkdir()
    program, port = str(embedded.find_server()), measure.free_port()
    argv = (program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "")
    with measure.running(argv, {}, folder / "redis.log"):
        measure.wait_until(lambda: measure.answers(port), "the start of Redis")
        client = redis.Redis(port=port)
        empty = used(client)
        store = open_store((folder / "store").as_uri(), StoreAccess())
        plan = a_plan(trials=cells // 2)
        sweep = submit(plan, 1, store.records, "bench", bootstrap.clock())
        place = Place(f"redis://127.0.0.1:{port}/0", store.url, sweep, cells // 2)
        fill(place, plan, cells * filled // 100)
        held = dict[int, int]()
        with workers(place, plan):
            run = coordinated(place, cells, lambda done: held.update({done: used(client)}))
        middle = max(amount for done, amount in held.items() if done < cells - 1)
        end = used(client)
        resumed = coordinated(place, cells, lambda _: None)
        status = status_cost(place)
        shutil.rmtree(folder / "store" / "sweeps" / sweep / "checkpoints", ignore_errors=True)
        without = coordinated(place, cells, lambda _: None)
    return Row(
        cells=cells,
        cells_per_s=run.cells / run.dispatch_s,
        coordinator_cpu_ms=run.cpu_s / run.cells * 1000,
        coordinator_mib=run.most_mib,
        redis_middle_kib=(middle - empty) / 1024,
        redis_end_kib=(end - empty) / 1024,
        resume=resumed.start,
        resume_without=without.start,
        status=status,
    )


def used(client: redis.Redis) -> int:
    """Ask Redis how much memory its data takes."""
    return int(client.info("memory")["used_memory"])


def told(cost: measure.Cost) -> str:
    """Tell what it took; on a busy machine the CPU's share says what a quiet one needs."""
    return f"{cost.wall_s:.2f} s ({cost.cpu_s:.2f} s CPU)"


def show(row: Row) -> None:
    """Print one size's numbers."""
    print(
        f"{row.cells:>7} cells at {row.cells_per_s:.0f}/s: coordinator {row.coordinator_cpu_ms:.2f} ms CPU a cell, "
        f"{row.coordinator_mib:.0f} MiB; Redis {row.redis_middle_kib:.0f} KiB in the middle, "
        f"{row.redis_end_kib:.0f} at the end; one missing taken up in {told(row.resume)}, "
        f"without a checkpoint in {told(row.resume_without)}; farm status in {told(row.status)}",
        flush=True,
    )


def main() -> int:
    """Measure each size; the exit code says whether resuming and status are fast enough."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cells", type=int, nargs="+", default=[1000, 10_000])
    options.add_argument("--filled", type=int, default=0, metavar="PERCENT")
    memory = Path("/dev/shm")  # noqa: S108 (where it is, it is there for this)
    options.add_argument("--folder", type=Path, default=memory if memory.is_dir() else None)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    quietly()
    rows = list[Row]()
    with tempfile.TemporaryDirectory(dir=chosen.folder, prefix="farm-scale-") as folder:
        for cells in chosen.cells:
            rows.append(measured(cells, chosen.filled, Path(folder) / str(cells)))
            if not chosen.json:
                show(rows[-1])
    if chosen.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
