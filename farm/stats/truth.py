"""What is played: the noise of one run after another of the same task under the same arm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

Drawn: TypeAlias = NDArray[np.float64]
"""By arm, play, task and trial."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How much is drawn."""

    plays: int
    tasks: int
    trials: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Right answers: a task's probability to be solved is Beta distributed over tasks, and shared by all arms."""

    alpha: float
    beta: float

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    @property
    def words(self) -> str:
        """Say what is assumed."""
        alike = 1 / (self.alpha + self.beta + 1)
        return (
            f"a task is as hard for every arm, {self.mean:.0%} solved on average, its trials correlated by {alike:.2f}"
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """Numbers: how far a run lies from its task's and arm's mean, by task, as it was seen or is taken to be."""

    pools: tuple[tuple[float, ...], ...]
    """Each with at least one number."""

    @property
    def variance(self) -> float:
        """Average over tasks."""
        return float(np.mean([np.mean(np.square(pool)) for pool in self.pools]))

    @property
    def words(self) -> str:
        """Say what is assumed."""
        return "runs lie about their task's mean as those of this sweep did, and an effect is the same in every task"


Truth: TypeAlias = Answers | Spread


def fitted_answers(solved: Sequence[int], judged: Sequence[int]) -> Answers:
    """Fit the Beta distribution to how many of its judged runs each task solved, by moments.

    The mean is (solved + 1/2) / (judged + 1), so that it is neither 0 nor 1. The correlation of a task's trials is
    what the variance of the tasks' shares has above that of independent trials, kept between 0.02 and 0.98; it is 0.2
    where fewer than three tasks have two runs.
    """
    mean = (sum(solved) + 0.5) / (sum(judged) + 1)
    several = [(right, of) for right, of in zip(solved, judged, strict=True) if of > 1]
    alike = 0.2
    if len(several) > 2:  # noqa: PLR2004 (a variance of two shares says next to nothing)
        shares = [right / of for right, of in several]
        centre = sum(shares) / len(shares)
        seen = sum((share - centre) ** 2 for share in shares) / (len(shares) - 1)
        trials = len(several) / sum(1 / of for _, of in several)
        alike = (seen / (mean * (1 - mean)) - 1 / trials) / (1 - 1 / trials)
    weight = 1 / min(max(alike, 0.02), 0.98) - 1
    return Answers(mean * weight, (1 - mean) * weight)


def seen_spread(values: Sequence[Mapping[str, Sequence[float]]]) -> Spread | None:
    """Gather each task's distances from the means of its arms, whose runs are given by arm.

    They are widened by sqrt(n / (n - 1)), n being an arm's runs of the task, since its mean was taken from them. A
    task without two runs of one arm is given those of all others; None where no task has two.
    """
    pools = [tuple(one for runs in by_arm.values() for one in _distances(runs)) for by_arm in values]
    all_of_them = tuple(one for pool in pools for one in pool)
    return Spread(tuple(pool or all_of_them for pool in pools)) if all_of_them else None


def drawn(truth: Truth, effects: Sequence[float], shape: Shape, seed: int) -> Drawn:
    """Draw the runs of some arms in the same tasks, each arm with its effect.

    An effect on answers moves a task's probability p to p + effect p / m for a loss, p + effect (1 - p) / (1 - m) for
    a gain, m being the mean; on numbers it is added to each.
    """
    generator = np.random.default_rng(seed)
    size = (len(effects), shape.plays, shape.tasks, shape.trials)
    match truth:
        case Answers():
            p = generator.beta(truth.alpha, truth.beta, size=(1, *size[1:3], 1))
            effect = np.array(effects)[:, None, None, None]
            likely = p + effect * np.where(effect < 0, p / truth.mean, (1 - p) / (1 - truth.mean))
            solved: Drawn = (generator.random(size) < likely).astype(np.float64)
            return solved
        case Spread():
            lengths = np.array([len(pool) for pool in truth.pools])[:, None]
            pools = np.zeros((shape.tasks, int(lengths.max())))
            for place, pool in enumerate(truth.pools):
                pools[place, : len(pool)] = pool
            at = (generator.random(size) * lengths).astype(np.int64)
            seen: Drawn = pools[np.arange(shape.tasks)[:, None], at]
            moved: Drawn = seen + np.array(effects)[:, None, None, None]
            return moved
        case _:
            assert_never(truth)


def sums_of_differences(values: Drawn, left: int, right: int, runs: Sequence[int]) -> list[list[float]]:
    """Add up each task's first `runs` differences of two arms, by play and task."""
    counted = np.arange(values.shape[-1]) < np.array(runs)[:, None]
    sums: list[list[float]] = ((values[left] - values[right]) * counted).sum(axis=-1).tolist()
    return sums


def _distances(runs: Sequence[float]) -> list[float]:
    if len(runs) < 2:  # noqa: PLR2004 (one run has no distance from itself)
        return []
    centre = sum(runs) / len(runs)
    widened = (len(runs) / (len(runs) - 1)) ** 0.5
    return [(one - centre) * widened for one in runs]
