"""Sums of which a part may be unknown."""

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

N = TypeVar("N", int, Decimal)


def known_sum(parts: Iterable[N | None]) -> N | None:
    """Add up; None when a part is unknown, and when there is none."""
    given = list(parts)
    known = [part for part in given if part is not None]
    return sum(known, type(known[0])()) if known and len(known) == len(given) else None
