"""The protocol's model check at length: histories with every kind of trouble, on all cores.

    python ops/bench/histories.py [--histories 1000000] [--first 0] [--seconds S] [--bug NO_FENCE]

Prints how many histories were played, their seeds, what broke which law, and the rate. A history that breaks a law is
shrunk and shown; its seed plays it again. With `--bug` the farm has that mistake, and finding it is success.
"""

import argparse
import multiprocessing
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.builders.protocol.history import Bug, History, play, shrink

_BATCH = 250
_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Batch:
    """What came of some seeds in a row."""

    first: int
    count: int
    broken: tuple[int, ...]
    cpu_s: float


def play_batch(bug: Bug | None, first: int) -> Batch:
    """Play the histories of the seeds from `first` on."""
    began_s = time.process_time()
    seeds = range(first, first + _BATCH)
    broken = tuple(seed for seed in seeds if play(History.drawn(seed), bug).violations)
    return Batch(first, _BATCH, broken, time.process_time() - began_s)


def show(seed: int, bug: Bug | None) -> None:
    """Print the smallest history that breaks the same law."""
    small = shrink(History.drawn(seed), lambda one: bool(play(one, bug).violations))
    print(f"seed {seed}: {small}\n  {play(small, bug).told}")


def tell(played: int, broken: int, first: int, wall_s: float) -> None:
    """Print how far it is, about once a minute: a run that is cut short has said which seeds held."""
    if played % (_BATCH * 64) == 0:
        sys.stderr.write(f"{wall_s:.0f} s: seeds {first} to {first + played - 1}, {broken} broke a law\n")


def main() -> int:
    """Play, print, and say by the exit code whether the laws held (or, with a bug, whether it was found)."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--histories", type=int, default=1_000_000)
    options.add_argument("--first", type=int, default=0, help="the first seed")
    options.add_argument("--seconds", type=float, help="stop after as long")
    options.add_argument("--bug", choices=[bug.name for bug in Bug])
    chosen = options.parse_args()
    bug = None if chosen.bug is None else Bug[chosen.bug]
    began_s = time.monotonic()
    until_s = None if chosen.seconds is None else began_s + chosen.seconds
    played, broken, cpu_s = 0, list[int](), 0.0
    cores = len(os.sched_getaffinity(0))
    with multiprocessing.Pool(cores) as pool:
        while played < chosen.histories and (until_s is None or time.monotonic() < until_s):
            starts = range(chosen.first + played, chosen.first + chosen.histories, _BATCH)[: 4 * cores]
            for done in pool.imap_unordered(partial(play_batch, bug), starts):
                played, cpu_s = played + done.count, cpu_s + done.cpu_s
                broken += done.broken
            tell(played, len(broken), chosen.first, time.monotonic() - began_s)
    wall_s = time.monotonic() - began_s
    print(f"histories: {played} (seeds {chosen.first} to {chosen.first + played - 1})")
    print(f"violations: {len(broken)} histories broke a law; seeds {sorted(broken)[:20]}")
    print(f"rate: {played / wall_s:.0f}/s on {cores} cores, {cpu_s / max(1, played) * 1000:.1f} ms CPU each")
    for seed in sorted(broken)[:_MOST_SHOWN]:
        show(seed, bug)
    return int(bool(broken) is (bug is None))


if __name__ == "__main__":
    sys.exit(main())
