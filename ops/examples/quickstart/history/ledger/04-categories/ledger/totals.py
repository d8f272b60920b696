"""Sums over entries."""

from collections import defaultdict
from decimal import Decimal


def balance(entries):
    """Add up all amounts."""
    return sum((entry.amount for entry in entries), Decimal("0"))


def by_category(entries):
    """Add up the amounts of each category, in order of name."""
    sums = defaultdict(Decimal)
    for entry in entries:
        sums[entry.category] += entry.amount
    return dict(sorted(sums.items()))
