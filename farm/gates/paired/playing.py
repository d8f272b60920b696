"""Playing: sweeps of one shape are drawn, and decided by the very rule that judges the real one."""

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from farm.gates.paired.policy import PairedPolicy
from farm.gates.paired.rule import rule_on, together
from farm.model import Decision
from farm.model.base import Value
from farm.stats.sign_flip import sign_flip
from farm.stats.truth import Answers, Drawn, Shape, Spread, Truth, drawn, sums_of_differences

_STEPS = 8
"""Into how many a gain's standard error is parted: as fine as the test of drawn numbers needs to be."""
_MOST_ENUMERATED = 20
_MOST_STEPS = 8 * _STEPS
"""A gain that is eight times as large as the noise counts as no larger: it decides the same, and costs less."""
_FLIP_US, _TASK_US, _BIT_US = 100.0, 10.0, 2e-5
"""What a test takes, each task of it, and each bit of the counts where the tasks are more than twenty; as measured."""


@dataclass(frozen=True, slots=True)
class PlayedPair:
    """Two arms, by their places, and how many pairs of runs each task has of them."""

    candidate: int
    incumbent: int
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Game:
    """What is played: the sweep's shape, its truth, its rule."""

    arms: int
    pairs: tuple[PlayedPair, ...]
    control: PlayedPair | None
    """Two arms of which the policy says that they are the same."""
    truth: Truth
    rules: PairedPolicy
    seed: int = 0

    @property
    def trials(self) -> int:
        return max((run for pair in self.pairs for run in pair.runs), default=0)

    @property
    def standard_error(self) -> float:
        """Of the first pair's gain when numbers are played."""
        variance = self.truth.variance if isinstance(self.truth, Spread) else 0.0
        runs = [run for run in self.pairs[0].runs if run]
        return math.sqrt(sum(2 * variance / run for run in runs)) / len(runs)

    @property
    def play_us(self) -> float:
        """Say about what one play takes a processor."""
        tests = 0.0
        for pair in (*self.pairs, *((self.control,) if self.control else ())):
            tasks = sum(run > 0 for run in pair.runs)
            steps = _MOST_STEPS if isinstance(self.truth, Spread) else self._denominator
            tests += _FLIP_US + _TASK_US * tasks + (tasks**3 * steps * _BIT_US if tasks > _MOST_ENUMERATED else 0.0)
        return tests * (1 if self.rules.floor == self.rules.bound else 2)

    @property
    def _denominator(self) -> int:
        return math.lcm(*{run for pair in self.pairs for run in pair.runs if run}, self.rules.bound.denominator)


class Chance(Value):
    """How often the gate decided what, at one size of the candidates' gain."""

    gain: float
    passes: float
    fails: float
    standard_error: float
    """Of `passes`, by the number of plays alone."""
    played: int


@functools.lru_cache(maxsize=256)
def chance(game: Game, gain: float, plays: int) -> Chance:
    """Play, each pair's candidate gaining `gain` over its incumbent; kept, since a report is made more than once."""
    found = Counter(_decisions(game, gain, plays))
    passes = found[Decision.PASS] / plays
    return Chance(
        gain=gain,
        passes=passes,
        fails=found[Decision.FAIL] / plays,
        standard_error=math.sqrt(passes * (1 - passes) / plays),
        played=plays,
    )


def least_gain(game: Game, gains: Sequence[float], power: float, plays: int) -> float | None:
    """Give the least of `gains`, in order of size, at which the gate passes so often; None: at none of them.

    It is found by halving, as if power never fell while the gain grows.
    """
    low, high = 0, len(gains)
    while low < high:
        middle = (low + high) // 2
        if chance(game, gains[middle], plays).passes >= power:
            high = middle
        else:
            low = middle + 1
    return gains[low] if low < len(gains) else None


def _decisions(game: Game, gain: float, plays: int) -> Iterator[Decision]:
    tasks = len(game.pairs[0].runs)
    gaining = {pair.candidate for pair in game.pairs}
    effects = [gain if arm in gaining else 0.0 for arm in range(game.arms)]
    values = drawn(game.truth, effects, Shape(plays, tasks, game.trials), game.seed)
    gains = [_gains(game, pair, values) for pair in game.pairs]
    control = None if game.control is None else _gains(game, game.control, values)
    for play in range(plays):
        if control is not None and sign_flip(control[play], game.rules.seed).p_value <= game.rules.alpha:
            yield Decision.INCONCLUSIVE
        else:
            yield together([one.decision for one in rule_on([of[play] for of in gains], game.rules)])


def _gains(game: Game, pair: PlayedPair, values: Drawn) -> list[list[Fraction]]:
    """Give one pair's gains by play and task, on a grid where they are numbers."""
    runs = [(task, run) for task, run in enumerate(pair.runs) if run]
    sums = sums_of_differences(values, pair.candidate, pair.incumbent, pair.runs)
    match game.truth:
        case Answers():
            return [[Fraction(int(row[task]), run) for task, run in runs] for row in sums]
        case Spread():
            bound, step = game.rules.bound, _step(game)
            grid = [bound + steps * step for steps in range(-_MOST_STEPS, _MOST_STEPS + 1)]
            start, size = float(bound), float(step)
            places = [[round((row[task] / run - start) / size) for task, run in runs] for row in sums]
            return [[grid[max(0, min(one + _MOST_STEPS, 2 * _MOST_STEPS))] for one in row] for row in places]
        case _:
            assert_never(game.truth)


def _step(game: Game) -> Fraction:
    """Choose a step well below the noise of a task's gain that goes into the margin a whole number of times."""
    tasks = sum(run > 0 for run in game.pairs[0].runs)
    fine = game.standard_error * math.sqrt(tasks) / _STEPS
    bound = abs(game.rules.bound)
    return bound / math.ceil(float(bound) / fine) if bound else Fraction(2) ** math.floor(math.log2(fine))
