"""Intervals by drawing tasks again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farm.stats.proportion import Interval

REPLICATES = 10_000
_AT_ONCE = 2**20
_WORD = 2**32


class Draws(Protocol):
    """A source of random places, the same from one seed on any machine."""

    def places(self, count: int, size: int) -> NDArray[np.int64]:
        """Give the next `count` numbers from 0 to `size`, `size` left out."""
        ...


class Mulberry32:
    """The small 32-bit generator of the reliability benchmark; each place is the floor of a draw times the size."""

    def __init__(self, seed: int) -> None:
        self._state = seed % _WORD

    def uniform(self, count: int) -> NDArray[np.float64]:
        """Give the next `count` draws from 0 to 1, 1 left out."""
        steps = np.arange(1, count + 1, dtype=np.uint64)
        state = ((self._state + steps * np.uint64(0x6D2B79F5)) % _WORD).astype(np.uint32)
        self._state = (self._state + count * 0x6D2B79F5) % _WORD
        mixed = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
        mixed ^= mixed + (mixed ^ (mixed >> np.uint32(7))) * (mixed | np.uint32(61))
        drawn: NDArray[np.float64] = (mixed ^ (mixed >> np.uint32(14))).astype(np.float64) / _WORD
        return drawn

    def places(self, count: int, size: int) -> NDArray[np.int64]:
        return (self.uniform(count) * size).astype(np.int64)


class Pcg64:
    """numpy's own default, for all that has no generator of its own to keep."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def places(self, count: int, size: int) -> NDArray[np.int64]:
        return self._generator.integers(0, size, size=count)


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A mean over tasks, and where it may lie."""

    estimate: float
    interval: Interval
    tasks: int
    replicates: int


def cluster_bootstrap(
    differences: Sequence[float], draws: Draws, replicates: int = REPLICATES, confidence: float = 0.95
) -> Bootstrap | None:
    """Give the mean of the tasks' differences and its percentile interval; None when there is no task.

    `differences` holds one number a task (the mean over its trials of left minus right), in the plan's order of
    tasks: the draws are places in it, so another order gives another interval. Estimand: the mean difference over
    tasks like these, each weighing the same. Denominator: all tasks. Variant: whole tasks are drawn with replacement
    (trials within one are not drawn again), and the interval is the plain percentile one (Efron 1979, Ann. Stat. 7,
    1-26) with linear interpolation at rank (replicates - 1) p (Hyndman and Fan 1996, type 7). With few tasks it is
    too short. Raises ValueError for fewer than one replicate.
    """
    if replicates < 1:
        raise ValueError(f"a bootstrap of {replicates} replicates is none")
    values = np.asarray(differences, dtype=np.float64)
    if len(values) == 0:
        return None
    means = np.empty(replicates)
    chunk = max(1, _AT_ONCE // len(values))
    for first in range(0, replicates, chunk):
        rows = min(chunk, replicates - first)
        drawn = draws.places(rows * len(values), len(values)).reshape(rows, len(values))
        means[first : first + rows] = values[drawn].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, (tail, 1 - tail), method="linear")
    return Bootstrap(float(values.mean()), Interval(float(low), float(high)), len(values), replicates)
