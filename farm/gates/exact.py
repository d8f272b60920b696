"""Exact arithmetic over measured numbers: a float enters as the fraction that it is, nothing is rounded on the way."""

from collections.abc import Sequence
from fractions import Fraction


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """Average exactly; None of nothing."""
    return sum(values, Fraction(0)) / len(values) if values else None


def median(values: Sequence[Fraction]) -> Fraction | None:
    """Give the middle, or the mean of the two middle values; None of nothing."""
    if not values:
        return None
    ranked = sorted(values)
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2


def number(value: Fraction) -> int | float:
    """Give a fraction as a JSON number: an integer stays exact, the rest is the nearest double."""
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return round(value)
