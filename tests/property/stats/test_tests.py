"""Laws of the tests and intervals, against the slow and plain way."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from farm.stats.bootstrap import Pcg64, cluster_bootstrap
from farm.stats.holm import holm
from farm.stats.mcnemar import mcnemar
from farm.stats.paired import Share, newcombe, paired_difference
from farm.stats.power import Design, Difficulty, chance_of, least_effect
from farm.stats.sign_flip import Method, sign_flip

DIFFERENCES = st.lists(st.integers(-5, 5), max_size=9)
RUNS = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1)


def plain_p(differences: list[int]) -> float:
    nonzero = [one for one in differences if one]
    seen = abs(sum(differences))
    sums = [abs(sum(signs)) for signs in itertools.product(*((one, -one) for one in nonzero))]
    return sum(one >= seen for one in sums) / len(sums)


@given(DIFFERENCES)
def test_the_sign_flip_goes_through_every_assignment(differences: list[int]) -> None:
    assert sign_flip(differences).p_value == plain_p(differences)


@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_the_sign_flip_knows_no_order_and_no_side(differences: list[int], random: object) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sign_flip(shuffled).p_value == sign_flip(differences).p_value
    assert sign_flip([-one for one in differences]).p_value == sign_flip(differences).p_value


def test_beyond_twenty_tasks_the_sign_flip_is_still_exact() -> None:
    found = sign_flip([3] * 30 + [-2] * 20)
    extreme = sum(
        math.comb(30, plus) * math.comb(20, minus)
        for plus in range(31)
        for minus in range(21)
        if abs(3 * (2 * plus - 30) + 2 * (2 * minus - 20)) >= 50
    )
    assert (found.method, found.extreme) == (Method.EXACT, extreme)
    assert found.p_value == float(Fraction(extreme, 2**50))


def test_tasks_with_unequal_numbers_of_trials_tie_where_doubles_would_not() -> None:
    found = sign_flip([Fraction(1, 3), Fraction(2, 3), Fraction(-1), Fraction(1, 2), Fraction(-1, 2)])
    assert (found.nonzero, found.p_value) == (5, 1.0)


def test_numbers_past_64_bits_are_tested_all_the_same() -> None:
    """Six tasks in one direction, whatever their unit."""
    assert sign_flip([10**30 + n for n in range(6)]).p_value == 2 / 64
    assert sign_flip([Fraction(10**15), Fraction(1, 7), *[10**15] * 4]).p_value == 2 / 64


def test_where_it_can_only_draw_it_tells_how_far_off_it_may_be() -> None:
    differences = [100_000] * 24 + [-100_000] * 9
    found = sign_flip(differences, seed=3)
    near = sign_flip([1] * 24 + [-1] * 9).p_value
    assert found.method is Method.DRAWN
    assert 0 < found.standard_error < 0.001
    assert found.p_value == pytest.approx(near, abs=0.001)
    assert sign_flip(differences, seed=3) == found


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_twice_the_smaller_tail(left: int, right: int) -> None:
    expected = 1.0 if left + right == 0 else min(1.0, 2 * float(binom.cdf(min(left, right), left + right, 0.5)))
    assert mcnemar(left, right).p_value == pytest.approx(expected, abs=1e-12)
    assert mcnemar(right, left).p_value == pytest.approx(mcnemar(left, right).p_value, abs=1e-12)


def test_there_are_no_pairs_below_zero() -> None:
    with pytest.raises(ValueError, match="-1 pairs"):
        mcnemar(-1, 4)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_between_each_p_value_and_bonferronis(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= one <= min(1.0, len(p_values) * p) for p, one in zip(p_values, adjusted, strict=True))
    in_order = sorted(zip(p_values, adjusted, strict=True))
    assert all(a[1] <= b[1] for a, b in itertools.pairwise(in_order))


def test_holm_of_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.0001, 0.0002]) == pytest.approx((0.0002, 0.0002))
    with pytest.raises(ValueError, match=r"1\.5 is no p-value"):
        holm([0.2, 1.5])


@given(RUNS, RUNS)
def test_a_paired_difference_is_the_mean_of_the_tasks_own(
    left: dict[str, list[int]], right: dict[str, list[int]]
) -> None:
    both = sorted(left.keys() & right.keys())
    found = paired_difference(left, right)
    if not both:
        assert found is None
        return
    assert found is not None
    own = [np.mean(left[task]) - np.mean(right[task]) for task in both]
    assert found.estimate == pytest.approx(np.mean(own))
    assert (found.tasks, set(found.left_out)) == (len(both), (left.keys() | right.keys()) - set(both))
    if len(both) > 1:
        assert found.standard_error == pytest.approx(np.std(own, ddof=1) / math.sqrt(len(both)))


def test_pairing_takes_the_tasks_own_difficulty_out_of_the_error() -> None:
    left, right = {"a": [0.9], "b": [0.5], "c": [0.2]}, {"a": [0.8], "b": [0.4], "c": [0.1]}
    found = paired_difference(left, right)
    assert found is not None
    assert found.standard_error is not None
    assert found.unpaired_standard_error is not None
    assert found.standard_error < 1e-9
    assert found.unpaired_standard_error > 0.2


def test_newcombe_agrees_with_a_published_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table II, method 10: 56 of 70 less 48 of 80.
    interval = newcombe(Share(56, 70), Share(48, 80))
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)
    assert newcombe(Share(0, 0), Share(1, 2)) is None


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=12), st.integers(0, 9))
def test_a_bootstraps_interval_lies_among_the_tasks_differences(differences: list[float], seed: int) -> None:
    found = cluster_bootstrap(differences, Pcg64(seed), replicates=200)
    assert found is not None
    assert min(differences) - 1e-12 <= found.interval.low <= found.interval.high <= max(differences) + 1e-12
    assert cluster_bootstrap(differences, Pcg64(seed), replicates=200) == found


def test_a_bootstrap_needs_tasks_and_replicates() -> None:
    assert cluster_bootstrap([], Pcg64(1)) is None
    with pytest.raises(ValueError, match="0 replicates"):
        cluster_bootstrap([1.0], Pcg64(1), replicates=0)


def test_a_rule_that_always_says_yes_has_all_the_power_and_all_the_false_alarms() -> None:
    design = Design(4, 2, Difficulty(2, 2))
    assert chance_of(lambda _left, _right: True, design, 0.0, played=10).estimate == 1.0
    assert chance_of(lambda _left, _right: False, design, 0.4, played=10).estimate == 0.0
    with pytest.raises(ValueError, match="leaves 0 to 1"):
        chance_of(lambda _left, _right: True, design, 0.6, played=1)


def test_the_least_effect_is_the_first_with_enough_power() -> None:
    def is_clear(left: np.ndarray, right: np.ndarray) -> bool:
        return sign_flip([int(one) for one in left - right]).p_value <= 0.05 and bool(left.sum() > right.sum())

    design = Design(20, 5, Difficulty(2, 2))
    found = least_effect(is_clear, design, (0.02, 0.3, 0.4), played=200)
    assert found == 0.3
    assert least_effect(is_clear, design, (0.01,), played=100) is None
