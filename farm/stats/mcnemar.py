"""The exact test for pairs of yes and no."""

from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True, slots=True)
class McNemar:
    """What the discordant pairs say."""

    left_only: int
    right_only: int
    p_value: float
    """Two-sided; 1 when no pair differs."""


def mcnemar(left_only: int, right_only: int) -> McNemar:
    """Test whether two arms say yes equally often, from the pairs of runs in which one alone did.

    Hypothesis: a pair that differs is as likely to favour either arm. Denominator: the discordant pairs; pairs that
    agree say nothing. Variant: exact and two-sided (McNemar 1947, Psychometrika 12, 153-157, with the binomial in
    place of its chi-squared approximation), that is `scipy.stats.binomtest(left_only, left_only + right_only)`, whose
    two tails are alike at one half. Pairs must be independent: pairs of one task are not, so over several trials a
    task it describes the sample and decides nothing. Raises ValueError for a negative count.
    """
    if min(left_only, right_only) < 0:
        raise ValueError(f"there can't be {min(left_only, right_only)} pairs")
    pairs = left_only + right_only
    p_value = 1.0 if pairs == 0 else float(binomtest(left_only, pairs).pvalue)
    return McNemar(left_only, right_only, p_value)
