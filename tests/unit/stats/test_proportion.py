from math import sqrt

import pytest

from farm.stats.proportion import wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 10), (1, 10), (5, 10), (10, 10), (27, 60), (900, 1000)])
def test_wilson_agrees_with_the_closed_form(successes: int, n: int) -> None:
    z = 1.959963984540054
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))

    interval = wilson(successes, n)

    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((max(0.0, centre - half), min(1.0, centre + half)), abs=1e-12)


def test_wilson_agrees_with_a_published_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3: 81 of 263.
    interval = wilson(81, 263)

    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_a_higher_confidence_is_wider() -> None:
    narrow, wide = wilson(3, 10, 0.9), wilson(3, 10, 0.99)

    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high


def test_nothing_tried_has_no_interval() -> None:
    assert wilson(0, 0) is None
