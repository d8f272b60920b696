"""Differences between two arms on the same tasks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from farm.stats.proportion import Interval, wilson


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Left minus right, over the tasks that both arms have."""

    estimate: float
    tasks: int
    standard_error: float | None
    """Clustered by task; None with fewer than two tasks."""
    unpaired_standard_error: float | None
    """What it would be, were the arms' tasks not the same ones."""
    interval: Interval | None
    left_out: tuple[str, ...]
    """Tasks that one arm alone has, sorted."""


Runs = Mapping[str, Sequence[float]]
"""By task, the metric of each of an arm's runs."""


def paired_difference(left: Runs, right: Runs, confidence: float = 0.95) -> PairedDifference | None:
    """Give the mean difference over tasks and its error; None when no task is in both arms.

    Estimand: the mean over tasks of (mean of the left arm's runs minus mean of the right arm's), each task weighing
    the same whatever its number of runs. Denominator: the tasks with at least one run in both arms; the others are
    named. Variant: the tasks' differences are taken for independent draws, so their sample deviation over the square
    root of their number is a standard error clustered by task (runs within a task may depend on each other as they
    like), and the interval is Student's with one degree of freedom less than tasks. The unpaired error adds the two
    arms' own variances of task means in place of the differences' (Miller 2024, arXiv:2411.00640, sections 2.2, 4).
    """
    both = sorted(task for task in left.keys() & right.keys() if left[task] and right[task])
    left_out = tuple(sorted((left.keys() | right.keys()) - set(both)))
    if not both:
        return None
    means = [np.array([np.mean(runs[task]) for task in both]) for runs in (left, right)]
    differences = means[0] - means[1]
    estimate = float(differences.mean())
    if len(both) == 1:
        return PairedDifference(estimate, 1, None, None, None, left_out)
    error = _error(differences)
    half = float(student.ppf((1 + confidence) / 2, len(both) - 1)) * error
    unpaired = math.hypot(_error(means[0]), _error(means[1]))
    return PairedDifference(estimate, len(both), error, unpaired, Interval(estimate - half, estimate + half), left_out)


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    successes: int
    n: int


def newcombe(left: Share, right: Share, confidence: float = 0.95) -> Interval | None:
    """Give the interval of a difference of two independent proportions, left minus right; None when one has no trial.

    Estimand: the difference between the probabilities that one more trial of each kind succeeds. Variant: the hybrid
    score interval of Newcombe (1998, Stat. Med. 17, 873-890, method 10) without continuity correction: the two Wilson
    intervals' distances from their shares, added as squares. It takes all trials for independent, so over several
    trials a task it describes the sample; pairs by task are `paired_difference`'s.
    """
    mine, theirs = wilson(left.successes, left.n, confidence), wilson(right.successes, right.n, confidence)
    if mine is None or theirs is None:
        return None
    p, q = left.successes / left.n, right.successes / right.n
    return Interval(
        p - q - math.hypot(p - mine.low, theirs.high - q),
        p - q + math.hypot(mine.high - p, q - theirs.low),
    )
