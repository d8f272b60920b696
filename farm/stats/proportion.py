"""Intervals for a share of trials."""

from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval, its ends included."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Give the Wilson score interval of a binomial proportion; None when nothing was tried.

    Estimand: the probability that one more trial of the same kind succeeds, the trials being independent and alike.
    Variant: the score interval of Wilson (1927, J. Am. Stat. Assoc. 22, 209-212) without continuity correction, as
    `scipy.stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")` computes it. Its coverage is near
    `confidence` on average and may be below it for single probabilities. Trials that share a task are not
    independent: over several tasks it describes the sample's size, and is no test between arms.
    """
    if n == 0:
        return None
    found = binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
    return Interval(low=float(found.low), high=float(found.high))
