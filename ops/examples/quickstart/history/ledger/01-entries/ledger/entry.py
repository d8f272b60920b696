"""One line of the ledger."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation


@dataclass(frozen=True)
class Entry:
    """Money that came in (positive) or went out (negative)."""

    day: date
    amount: Decimal
    category: str


def parse(line):
    """Read `<date> <amount> <category>`; raise ValueError saying what is wrong."""
    try:
        day, amount, category = line.split()
        return Entry(date.fromisoformat(day), Decimal(amount), category)
    except (ValueError, InvalidOperation):
        raise ValueError(f"not an entry: {line.strip()!r}") from None
