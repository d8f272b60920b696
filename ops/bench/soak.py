"""Whether anything grows: thousands of cells that do nothing on one worker, then a herd that comes back.

    python ops/bench/soak.py [--cells 5000] [--slots 4] [--clients 200]

While the sweep runs, the memory, the open files and the processes of the worker and of the coordinator are read every
second; the last quarter's medians are held against the second quarter's, since the first one warms up. Then Redis is
killed while so many clients hold leases, and started again: printed is when the last of them is served, and how long
an answer takes meanwhile.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import cells
import measure

from farm.adapters import redis
from farm.errors import TransientError
from farm.model import CellId, Lease, SweepId

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.builders.faulty import descendants
from tests.services.programs import program
from tests.services.redis import a_redis

_MOST_GROWTH = 1.1
_LEASE_S = 30.0
_FARM = str(Path(sys.executable).with_name("farm"))


@dataclass(frozen=True, slots=True)
class Held:
    """What a tree of processes holds."""

    megabytes: float
    files: int
    processes: int


def held_by(root: int) -> Held:
    """Read what the tree below `root` holds; resident pages that are shared count each time."""
    megabytes, files, alive = 0.0, 0, 0
    for pid in descendants(root):
        try:
            files += len(list(Path(f"/proc/{pid}/fd").iterdir()))
            pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
        except OSError:
            continue
        megabytes += pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
        alive += 1
    return Held(megabytes, files, alive)


def soak(count: int, slots: int, redis_url: str, folder: Path) -> dict[str, list[Held]]:
    """Run the sweep; give what worker and coordinator held, second by second."""
    store = folder / "store"
    env = dict(os.environ) | {"FARM_REDIS_URL": redis_url, "FARM_STORE": store.as_uri()}  # noqa: TID251 (a bench has no settings)
    sweep_file = folder / "soak.yaml"
    sweep_file.write_text(cells._SWEEP.format(trials=count), encoding="utf-8")  # noqa: SLF001 (the same sweep)
    submitted = subprocess.run((_FARM, "submit", str(sweep_file)), env=env, capture_output=True, text=True, check=True)  # noqa: S603 (our own command)
    sweep = submitted.stdout.strip()
    held: dict[str, list[Held]] = {"worker": [], "coordinator": []}
    worker = (_FARM, "worker", "--slots", str(slots))
    with measure.running(worker, env, folder / "worker.log") as worker_pid:
        command = (_FARM, "coordinate", sweep, "--json")
        with (folder / "coordinate.log").open("wb") as log:
            coordinator = subprocess.Popen(command, env=env, stdout=log, stderr=log)  # noqa: S603 (our own command)
        while coordinator.poll() is None:
            time.sleep(1)
            held["worker"].append(held_by(worker_pid))
            held["coordinator"].append(held_by(coordinator.pid))
    done = len(list(store.glob("sweeps/*/results/*.json")))
    if coordinator.returncode != 0 or done != count:
        sys.exit(f"soak: {done} of {count} cells have a result; {(folder / 'coordinate.log').read_text()}")
    return held


def is_flat(name: str, samples: list[Held]) -> bool:
    """Print what a process held in the second and in the last quarter; say whether it grew."""
    quarter = max(1, len(samples) // 4)
    flat = True
    for what in ("megabytes", "files", "processes"):
        before = statistics.median(getattr(one, what) for one in samples[quarter : 2 * quarter] or samples)
        after = statistics.median(getattr(one, what) for one in samples[-quarter:])
        flat = flat and after <= max(_MOST_GROWTH * before, before + 4)
        print(f"{name:<12} {what:<10} second quarter {before:8.1f}  last quarter {after:8.1f}")
    return flat


def herd(clients: int, folder: Path) -> bool:
    """Let clients that hold leases come back all at once."""
    server = a_redis(program("redis-server"), folder / "herd")
    server.process.start()
    farms = [redis.connect(server.url) for _ in range(clients)]
    leases = [
        Lease(sweep=SweepId("herd"), cell=CellId(f"c{number}"), index=number, attempt=1, holder=f"h/{number}")
        for number in range(clients)
    ]
    served_s, answers_s = [0.0] * clients, list[float]()
    gone = threading.Event()

    def come_back(number: int) -> None:
        while True:
            began = time.monotonic()
            try:
                farms[number].leases.renew(leases[number], _LEASE_S)
            except TransientError:
                time.sleep(0.25)
                continue
            answers_s.append(time.monotonic() - began)
            if gone.is_set():
                served_s[number] = time.monotonic()
                return
            time.sleep(0.25)

    threads = [threading.Thread(target=come_back, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    server.process.kill()
    gone.set()
    answers_s.clear()
    time.sleep(2)
    server.process.start_again()
    began = time.monotonic()
    for thread in threads:
        thread.join(60)
    for one in farms:
        one.close()
    server.process.stop()
    p99_s = sorted(answers_s)[int(0.99 * len(answers_s)) - 1]
    last_s = max(served_s) - began
    print(f"herd         {clients} clients, the last is served after {last_s:.2f} s; p99 {1000 * p99_s:.0f} ms")
    return min(served_s) > 0


def main() -> None:
    """Soak and print; exit 1 when something grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--clients", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-soak-") as name:
        folder = Path(name)
        cells.make_repository(folder / "repository")
        with cells.own_redis(folder) as server:
            held = soak(options.cells, options.slots, server.url, folder)
        flat = [is_flat(name, samples) for name, samples in held.items()]
        is_served = herd(options.clients, folder)
    holds = all(flat) and is_served
    print(f"bar: nothing grows by more than a tenth, everybody is served: {'held' if holds else 'MISSED'}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
