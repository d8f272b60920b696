"""Sums of which a part may be unknown."""

from decimal import Decimal

from farm.model import known_sum


def test_a_sum_is_known_when_every_part_is() -> None:
    assert known_sum([1, 2]) == 3
    assert known_sum([Decimal("0.10"), Decimal("0.2")]) == Decimal("0.30")
    assert known_sum([0]) == 0


def test_a_part_that_nobody_knows_makes_it_unknown_and_so_does_nothing_at_all() -> None:
    assert known_sum([1, None]) is None
    assert known_sum(list[int | None]()) is None
