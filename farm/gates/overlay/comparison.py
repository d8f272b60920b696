"""Means, medians and their comparison in exact rational arithmetic: a boundary is met or it is not.

A float enters as the exact fraction that it is; nothing is rounded before the last comparison.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from farm.gates.exact import mean, median
from farm.gates.overlay.policy import CasePolicy, Comparator, Rules
from farm.model import Direction, Metric


class Status(StrEnum):
    """What the numbers of a case say, in order of precedence: the first that applies."""

    INCOMPLETE = "incomplete"
    UNSUPPORTED = "unsupported_hypothesis"
    REGRESSED = "regressed"
    SATURATED = "baseline_saturated"
    IMPROVED = "improved"
    NO_IMPROVEMENT = "no_measured_improvement"


@dataclass(frozen=True, slots=True)
class Values:
    """The metric's values of the valid samples."""

    on: tuple[Fraction, ...]
    off: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One comparison of the ON arm, `observed operator threshold`, and whether it holds."""

    observed: Fraction
    operator: str
    threshold: Fraction
    holds: bool
    note: str = ""


def mean_or_zero(values: tuple[Fraction, ...]) -> Fraction:
    """Average exactly; the contract reports the mean of nothing as 0, beside the count that says so."""
    return mean(values) or Fraction(0)


def is_within(value: Fraction, metric: Metric) -> bool:
    """Say whether `value` lies in the metric's inclusive bounds."""
    above = metric.minimum is None or value >= Fraction(metric.minimum)
    return above and (metric.maximum is None or value <= Fraction(metric.maximum))


def status_of(values: Values, planned: int, metric: Metric, case: CasePolicy, rules: Rules) -> Status:
    """Apply the contract's precedence: the first that applies, every boundary inclusive."""
    both = values.on + values.off
    if {len(values.on), len(values.off)} != {planned} or not all(is_within(value, metric) for value in both):
        return Status.INCOMPLETE
    if case.unsupported_hypothesis is not None:
        return Status.UNSUPPORTED
    if _is_worse(values, metric.direction):
        return Status.REGRESSED
    optimum = metric.minimum if metric.direction is Direction.LOWER else metric.maximum
    if optimum is not None and all(value == Fraction(optimum) for value in values.off):
        return Status.SATURATED
    return (
        Status.IMPROVED if efficacy(values, metric.direction, case.comparator, rules).holds else Status.NO_IMPROVEMENT
    )


def _is_worse(values: Values, direction: Direction) -> bool:
    on, off = mean_or_zero(values.on), mean_or_zero(values.off)
    return on > off if direction is Direction.LOWER else on < off


def efficacy(values: Values, direction: Direction, comparator: Comparator, rules: Rules) -> Bar:
    """Compare the arms' means as the case's comparator says."""
    match comparator:
        case Comparator.LIFT:
            return _lift(values, rules)
        case Comparator.RATIO if direction is Direction.LOWER:
            return lower_by_ratio(values, rules)
        case Comparator.RATIO:
            return _higher_by_ratio(values, rules)
        case _:
            assert_never(comparator)


def lower_by_ratio(values: Values, rules: Rules) -> Bar:
    """Ask for mean ON <= ratio x mean OFF; a zero baseline is never improved on."""
    on, off = mean_or_zero(values.on), mean_or_zero(values.off)
    bar = Fraction(rules.lower_ratio) * off
    if off == 0:
        return Bar(on, "<=", bar, holds=False, note="the OFF mean is 0: nothing counts as a reduction")
    return Bar(on, "<=", bar, holds=on <= bar)


def _higher_by_ratio(values: Values, rules: Rules) -> Bar:
    on, off = mean_or_zero(values.on), mean_or_zero(values.off)
    if off == 0:
        return Bar(on, ">", Fraction(0), holds=on > 0, note="the OFF mean is 0: any rise counts")
    bar = Fraction(rules.higher_ratio) * off
    return Bar(on, ">=", bar, holds=on >= bar)


def _lift(values: Values, rules: Rules) -> Bar:
    high = sum(value >= Fraction(rules.lift_value) for value in values.on)
    rise = mean_or_zero(values.on) - mean_or_zero(values.off)
    holds = rise >= Fraction(rules.least_lift) and high >= rules.lift_samples
    note = f"also needs {rules.lift_samples} ON samples of at least {rules.lift_value}; there are {high}"
    return Bar(rise, ">=", Fraction(rules.least_lift), holds=holds, note=note)


def reduction(values: Values, rules: Rules) -> Bar:
    """Apply the blocking gate: with an OFF median of 0 every ON value must be 0, else the lower-ratio rule."""
    if median(values.off) == 0:
        worst = max(values.on, key=abs, default=Fraction(0))
        note = "the OFF median is 0: every ON value must be 0"
        return Bar(worst, "==", Fraction(0), holds=worst == 0, note=note)
    return lower_by_ratio(values, rules)
