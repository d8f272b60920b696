"""Sums over entries."""

from decimal import Decimal


def balance(entries):
    """Add up all amounts."""
    return sum((entry.amount for entry in entries), Decimal("0"))
