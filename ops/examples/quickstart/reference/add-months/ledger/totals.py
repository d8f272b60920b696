"""Sums over entries."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Month:
    """What came in and went out in a month, and the balance at its end."""

    month: str
    income: Decimal
    spending: Decimal
    closing: Decimal


def balance(entries):
    """Add up all amounts."""
    return sum((entry.amount for entry in entries), Decimal("0"))


def by_category(entries):
    """Add up the amounts of each category, in order of name."""
    sums = defaultdict(Decimal)
    for entry in entries:
        sums[entry.category] += entry.amount
    return dict(sorted(sums.items()))


def by_month(entries):
    """Give every month from the first entry's to the last one's, oldest first."""
    amounts = defaultdict(list)
    for entry in entries:
        amounts[entry.day.year * 12 + entry.day.month - 1].append(entry.amount)
    months, closing = [], Decimal("0")
    for number in range(min(amounts, default=0), max(amounts, default=-1) + 1):
        here = amounts[number]
        income = sum((amount for amount in here if amount > 0), Decimal("0"))
        spending = sum((amount for amount in here if amount < 0), Decimal("0"))
        closing += income + spending
        months.append(Month(f"{number // 12:04}-{number % 12 + 1:02}", income, spending, closing))
    return months
