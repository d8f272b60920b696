"""Faults at random, one after the other and together, for as long as you like.

    python ops/bench/chaos.py [--minutes 10] [--seed N]

Sweeps of 24 cells run one after another on two hosts in network namespaces, with a real Redis and a real S3 server;
every second or so something is killed, frozen, cut off, wiped, refused or doubled. After each sweep the invariants of
the fault suite are looked at. Prints the faults injected, the cells, how many were lost and doubled, what else was
broken, and the seed, which gives the same order of faults again. Only root can run it.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults import of_store
from tests.faults.fleet import Fleet, a_fleet, as_it_is
from tests.faults.invariants import Expected, broken, left_running
from tests.faults.sweep import CELLS, Shape, Sweep, a_sweep

SHAPE = Shape("chaos", nap_s=0.4, most_attempts=50)
"""Fifty attempts: a cell that is hit often is hit by us."""
_SWEEP_S = 180.0
_CALM_S = 15.0
Blow = Callable[[Sweep, random.Random], None]


def slot_killed(sweep: Sweep, dice: random.Random) -> None:
    """Kill a slot."""
    children = [pid for host in sweep.fleet.hosts.values() if host.is_alive for pid in host.children()]
    if children:
        os.kill(dice.choice(children), signal.SIGKILL)


def worker_killed(sweep: Sweep, dice: random.Random) -> None:
    """Kill a worker."""
    sweep.fleet.hosts[dice.choice("ab")].end()


def worker_told_to_end(sweep: Sweep, dice: random.Random) -> None:
    """Tell a worker to end, twice."""
    host = sweep.fleet.hosts[dice.choice("ab")]
    if host.is_alive:
        host.process.terminate()
        time.sleep(0.2)
        host.end(signal.SIGTERM)


def worker_frozen(sweep: Sweep, dice: random.Random) -> None:
    """Freeze a worker for longer or shorter than a lease."""
    host = sweep.fleet.hosts[dice.choice("ab")]
    if host.is_alive:
        host.send(signal.SIGSTOP)
        time.sleep(dice.uniform(0.5, 4))
        host.send(signal.SIGCONT)


def coordinator_killed(sweep: Sweep, _dice: random.Random) -> None:
    """Kill the coordinator."""
    if sweep.coordinator is not None:
        sweep.coordinator.kill()
        sweep.coordinator.join()


def redis_killed(sweep: Sweep, dice: random.Random) -> None:
    """Kill Redis, for longer or shorter than a lease."""
    sweep.fleet.redis.process.kill()
    time.sleep(dice.uniform(0, 3))
    sweep.fleet.redis.process.start_again()


def redis_wiped(sweep: Sweep, _dice: random.Random) -> None:
    """Let Redis forget everything."""
    sweep.fleet.redis.flush()


def redis_paused(sweep: Sweep, dice: random.Random) -> None:
    """Let Redis answer nobody for a while."""
    with sweep.fleet.redis.client() as client:
        client.execute_command("CLIENT", "PAUSE", dice.randrange(300, 3000), "ALL")


def redis_read_only(sweep: Sweep, dice: random.Random) -> None:
    """Let Redis refuse to write."""
    with sweep.fleet.redis.client() as client:
        client.slaveof("127.0.0.1", 1)
        time.sleep(dice.uniform(0.3, 2))
        client.slaveof()


def host_cut_off(sweep: Sweep, dice: random.Random) -> None:
    """Cut a host off from Redis or S3, both ways or one."""
    port = dice.choice([sweep.fleet.redis.port, sweep.fleet.proxy.port])
    ways = dice.choice([("input",), ("output",), ("input", "output")])
    with sweep.fleet.lanes[dice.choice("ab")].dropping(port, *ways):
        time.sleep(dice.uniform(0.5, 4))


def s3_in_trouble(sweep: Sweep, dice: random.Random) -> None:
    """Let S3 refuse, stall, reset or corrupt."""
    answers = [(500, "InternalError"), (503, "SlowDown"), (409, "ConditionalRequestConflict")]
    tricks = [*(of_store.answered(*answer) for answer in answers)]
    tricks += [of_store.nobody_there, of_store.slow, of_store.reset, of_store.flipped, of_store.cut_short]
    sweep.fleet.tricks.now = dice.choice(tricks)
    time.sleep(dice.uniform(0.2, 2))
    sweep.fleet.tricks.now = as_it_is


def s3_killed(sweep: Sweep, _dice: random.Random) -> None:
    """Kill the S3 server."""
    sweep.fleet.s3.process.kill()
    sweep.fleet.s3.process.start_again()


def tickets_doubled(sweep: Sweep, dice: random.Random) -> None:
    """Send first tickets again, whatever has become of their cells."""
    dispatcher = sweep.fleet.exchange.dispatcher
    for _ in range(20):
        dispatcher.send(sweep.ticket(dice.randrange(CELLS)))


BLOWS: tuple[Blow, ...] = (
    slot_killed,
    worker_killed,
    worker_told_to_end,
    worker_frozen,
    coordinator_killed,
    redis_killed,
    redis_wiped,
    redis_paused,
    redis_read_only,
    host_cut_off,
    s3_in_trouble,
    s3_killed,
    tickets_doubled,
)


@dataclass(slots=True)
class Tally:
    """What was done, and what came of it."""

    faults: Counter[str] = field(default_factory=Counter)
    cells: int = 0
    attempts: int = 0
    broken: list[str] = field(default_factory=list)

    def count(self, invariant: str) -> int:
        return sum(problem.startswith(f"{invariant} ") for problem in self.broken)


def one_sweep(fleet: Fleet, dice: random.Random, tally: Tally, until_s: float) -> None:
    """Run a sweep to its end under blows, and look at what is left of it."""
    with a_sweep(fleet, SHAPE) as sweep:
        sweep.coordinate()
        limit_s = time.monotonic() + _SWEEP_S
        while not is_closed(sweep):
            now_s = time.monotonic()
            if now_s > limit_s:
                tally.broken.append(f"I3 {sweep.id}: it did not end; {sweep.told()}")
                return
            if now_s < min(until_s, limit_s - _SWEEP_S / 2):
                blow = dice.choice(BLOWS)
                tally.faults[blow.__name__] += 1
                blow(sweep, dice)
            time.sleep(dice.uniform(0.2, 1.5))
            mend(sweep)
        sweep.finalize()
        fleet.heal()
        calm_s = time.monotonic() + _CALM_S
        while left_running(sweep) and time.monotonic() < calm_s:
            time.sleep(0.1)
        tally.cells += CELLS
        tally.attempts += sweep.attempts()
        tally.broken += broken(sweep, None, Expected())


def is_closed(sweep: Sweep) -> bool:
    """Tell whether a coordinator has closed the sweep."""
    said = sweep.words()
    return bool(said) and said[-1].get("end") == "closed"


def mend(sweep: Sweep) -> None:
    """Do what systemd would: start again what has ended."""
    for name in ("a", "b"):
        if not sweep.fleet.hosts[name].is_alive:
            sweep.fleet.start(name)
    if sweep.coordinator is not None and sweep.coordinator.exitcode is not None and not is_closed(sweep):
        sweep.coordinate()


def main() -> None:
    """Strike until the time is over; exit 1 when an invariant was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))  # noqa: S311 (dice, not secrets)
    options = parser.parse_args()
    dice, tally = random.Random(options.seed), Tally()  # noqa: S311
    until_s = time.monotonic() + 60 * options.minutes
    with a_fleet() as fleet:
        while time.monotonic() < until_s:
            fleet.heal()
            one_sweep(fleet, dice, tally, until_s)
    for name, times in sorted(tally.faults.items()):
        print(f"{times:6}  {name.replace('_', ' ')}")
    print(f"faults {tally.faults.total()}, cells {tally.cells}, attempts {tally.attempts}, seed {options.seed}")
    print(f"lost {tally.count('I3')}, doubled {tally.count('I1')}, broken in all {len(tally.broken)}")
    print("\n".join(tally.broken))
    sys.exit(1 if tally.broken else 0)


if __name__ == "__main__":
    main()
