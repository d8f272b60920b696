"""The rule itself, on numbers alone: what judges a sweep, and what is played to learn how often it errs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from farm.gates.exact import mean
from farm.gates.paired.policy import PairedPolicy
from farm.model import Decision
from farm.stats.holm import holm
from farm.stats.sign_flip import SignFlip, sign_flip


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is found of one pair of arms."""

    decision: Decision
    better: SignFlip
    """Against the bound."""
    better_holm: float
    worse_holm: float
    """Against the bound, or no gain at all where that is less: a gain below a margin of superiority is no harm."""


def rule_on(gains: Sequence[Sequence[Fraction]], rules: PairedPolicy) -> list[Ruling]:
    """Decide each pair by its tasks' gains, all of them together under one alpha."""
    better = [_against(rules.bound, one, rules.seed) for one in gains]
    worse = better if rules.floor == rules.bound else [_against(rules.floor, one, rules.seed) for one in gains]
    holms = zip(holm([one.p_value for one in better]), holm([one.p_value for one in worse]), strict=True)
    return [
        Ruling(_decision(mean(one), rules, above, below), test, above, below)
        for one, test, (above, below) in zip(gains, better, holms, strict=True)
    ]


def together(decisions: Sequence[Decision]) -> Decision:
    """Decide for all pairs: one that is worse fails the gate, and all must pass for it to pass."""
    if Decision.FAIL in decisions:
        return Decision.FAIL
    return Decision.PASS if all(one is Decision.PASS for one in decisions) else Decision.INCONCLUSIVE


def _against(bound: Fraction, gains: Sequence[Fraction], seed: int) -> SignFlip:
    return sign_flip([gain - bound for gain in gains], seed)


def _decision(gain: Fraction | None, rules: PairedPolicy, better: float, worse: float) -> Decision:
    if gain is not None and gain > rules.bound and better <= rules.alpha:
        return Decision.PASS
    if gain is not None and gain < rules.floor and worse <= rules.alpha:
        return Decision.FAIL
    return Decision.INCONCLUSIVE
