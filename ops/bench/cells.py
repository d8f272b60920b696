"""What the farm itself costs: cells that do nothing, through the whole line.

    python ops/bench/cells.py [--cells 240] [--slots 8] [--repetitions 3] [--json]

Real Celery, real Redis (its own, started for the run), the files store, and bubblewrap twice a cell: a session that
ends at once, an oracle that says yes. Two sweeps of different size are run and subtracted, so that starting, planning
and loading cancel out of the CPU time. What stays is one cell: dispatch, claim, staging, session, oracle, upload,
records, folding, and its share of settling, judging and reporting. Cells a second are counted from the first start to
the last end in the larger sweep's own records. Beside it, in the same run: Celery alone, and bubblewrap alone.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import bare_bwrap
import measure
import raw_celery

from farm.adapters import embedded

_SMALL = 16
"""Cells of the sweep that is subtracted: enough to warm every slot of eight twice."""
_MOST_CPU_MS = 60.0
_LEAST_PER_S = 15.0

_SWEEP = """
name: noop
tasks:
  - id: noop
    repository: {{path: repository, ref: main}}
    prompt: Do nothing.
    oracle: {{kind: command, argv: ["/usr/bin/true"]}}
arms:
  - {{name: only, role: control, agent: {{kind: scripted, scripts: {{"*": []}}}}}}
trials: {trials}
"""


@dataclass(frozen=True, slots=True)
class Redis:
    """A server of the bench's own."""

    url: str
    pid: int


@dataclass(frozen=True, slots=True)
class Round:
    """One repetition: costs of one cell, one Celery task, one pair of sandboxes."""

    cells_per_s: float
    cell_cpu_s: float
    redis_cpu_s: float
    celery: measure.Cost
    bwrap: measure.Cost


@dataclass(frozen=True, slots=True)
class Report:
    """Medians over the repetitions, in the units that the bars are given in."""

    cells_per_s: float
    cell_cpu_ms: float
    redis_cpu_ms: float
    celery_tasks_per_s: float
    celery_cpu_ms: float
    bwrap_pair_wall_ms: float
    bwrap_pair_cpu_ms: float

    @property
    def cell_and_redis_cpu_ms(self) -> float:
        return self.cell_cpu_ms + self.redis_cpu_ms

    @property
    def holds(self) -> bool:
        return self.cell_and_redis_cpu_ms <= _MOST_CPU_MS and self.cells_per_s >= _LEAST_PER_S


@contextmanager
def own_redis(folder: Path) -> Iterator[Redis]:
    """Start a Redis or Valkey for the block."""
    program = str(embedded.find_server())
    port = measure.free_port()
    argv = (program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--appendonly", "yes")
    with measure.running(argv, {}, folder / "redis.log") as pid:
        measure.wait_until(lambda: measure.answers(port), "the start of Redis")
        yield Redis(f"redis://127.0.0.1:{port}/0", pid)


def make_repository(folder: Path) -> None:
    """Make a git repository of one small file."""
    folder.mkdir()
    (folder / "README").write_text("Nothing to do.\n", encoding="utf-8")
    git = ("git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@example.org")
    for arguments in (("init", "-q", "-b", "main"), ("add", "README"), ("commit", "-q", "-m", "Start")):
        subprocess.run((*git, *arguments), check=True)  # noqa: S603 (fixed commands)


def sweep_cost(trials: int, slots: int, redis: Redis, store: Path) -> measure.Cost:
    """Run a sweep of `trials` cells by the public command and give what all of its processes used."""
    sweep = store.parent / f"noop-{trials}.yaml"
    sweep.write_text(_SWEEP.format(trials=trials), encoding="utf-8")
    places = {"FARM_REDIS_URL": redis.url, "FARM_STORE": store.as_uri()}
    env = dict(os.environ) | places  # noqa: TID251 (a bench has no settings)
    farm = str(Path(sys.executable).with_name("farm"))

    def run() -> None:
        argv = (farm, "run", str(sweep), "--slots", str(slots))
        ended = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)  # noqa: S603 (our own command)
        if ended.returncode != 0:
            sys.exit(f"cells: farm run ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")

    return measure.cost_of(run)


def cells_per_s(store: Path) -> float:
    """Count the cells of a store's one sweep over the time from the first start to the last end."""
    outcomes = [json.loads(path.read_bytes()) for path in store.glob("sweeps/*/attempts/*/*/outcome.json")]
    first = min(datetime.fromisoformat(outcome["started_at"]) for outcome in outcomes)
    last = max(datetime.fromisoformat(outcome["ended_at"]) for outcome in outcomes)
    return len(outcomes) / (last - first).total_seconds()


def one_round(cells: int, slots: int, redis: Redis, folder: Path) -> Round:
    """Measure each of the three once, in stores of its own."""
    stores = tuple(Path(tempfile.mkdtemp(prefix="store-", dir=folder)) for _ in range(2))
    small = sweep_cost(_SMALL, slots, redis, stores[0])
    redis_cpu_s = measure.process_cpu_s(redis.pid)
    large = sweep_cost(_SMALL + cells, slots, redis, stores[1])
    redis_cpu_s = measure.process_cpu_s(redis.pid) - redis_cpu_s
    return Round(
        cells_per_s=cells_per_s(stores[1]),
        cell_cpu_s=(large - small).per(cells).cpu_s,
        redis_cpu_s=redis_cpu_s / (_SMALL + cells),
        celery=raw_celery.tasks_cost(cells, slots, redis.url, folder).per(cells),
        bwrap=bare_bwrap.pairs_cost(cells // 4).per(cells // 4),
    )


def summarise(rounds: list[Round]) -> Report:
    """Take the median of each figure over the repetitions."""
    median = statistics.median
    return Report(
        cells_per_s=median(each.cells_per_s for each in rounds),
        cell_cpu_ms=1000 * median(each.cell_cpu_s for each in rounds),
        redis_cpu_ms=1000 * median(each.redis_cpu_s for each in rounds),
        celery_tasks_per_s=1 / median(each.celery.wall_s for each in rounds),
        celery_cpu_ms=1000 * median(each.celery.cpu_s for each in rounds),
        bwrap_pair_wall_ms=1000 * median(each.bwrap.wall_s for each in rounds),
        bwrap_pair_cpu_ms=1000 * median(each.bwrap.cpu_s for each in rounds),
    )


def table(report: Report) -> str:
    """Lay the report out for a person."""
    rows = (
        ("cell, whole line", f"{report.cells_per_s:8.1f}", f"{report.cell_cpu_ms:8.2f}"),
        ("  and Redis", "", f"{report.cell_and_redis_cpu_ms:8.2f}"),
        ("Celery task alone", f"{report.celery_tasks_per_s:8.1f}", f"{report.celery_cpu_ms:8.2f}"),
        ("two bwrap alone", f"{1000 / report.bwrap_pair_wall_ms:8.1f}", f"{report.bwrap_pair_cpu_ms:8.2f}"),
    )
    lines = [f"{'':<20}{'per s':>8}  {'CPU ms':>8}", *(f"{name:<20}{rate:>8}  {cpu:>8}" for name, rate, cpu in rows)]
    bar = f"at most {_MOST_CPU_MS:.0f} ms CPU with Redis and at least {_LEAST_PER_S:.0f} cells/s"
    return "\n".join([*lines, f"bar: {bar}: {'held' if report.holds else 'MISSED'}"])


def main() -> None:
    """Measure and print; exit 1 when the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=240)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-cells-") as name:
        folder = Path(name)
        make_repository(folder / "repository")
        with own_redis(folder) as redis:
            rounds = [one_round(options.cells, options.slots, redis, folder) for _ in range(options.repetitions)]
    report = summarise(rounds)
    document = asdict(report) | {"holds": report.holds, "rounds": [asdict(each) for each in rounds]}
    print(json.dumps(document, indent=2) if options.as_json else table(report))
    sys.exit(0 if report.holds else 1)


if __name__ == "__main__":
    main()
