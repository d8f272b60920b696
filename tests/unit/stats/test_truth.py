"""What sweeps are played from."""

import numpy as np
import pytest

from farm.stats.truth import (
    Answers,
    Shape,
    Spread,
    Truth,
    drawn,
    fitted_answers,
    seen_spread,
    sums_of_differences,
)

MANY = Shape(plays=400, tasks=10, trials=5)


def shares(truth: Truth, *effects: float) -> list[float]:
    return [round(float(arm.mean()), 2) for arm in drawn(truth, effects, MANY, seed=1)]


def test_answers_are_fitted_by_their_mean_and_by_how_much_a_tasks_trials_are_alike() -> None:
    always_or_never = fitted_answers([4, 0, 4, 0, 4, 0], [4] * 6)
    assert always_or_never.mean == pytest.approx(0.5)
    assert 1 / (always_or_never.alpha + always_or_never.beta + 1) == pytest.approx(0.98)

    all_the_same = fitted_answers([2, 2, 2, 2], [4] * 4)
    assert 1 / (all_the_same.alpha + all_the_same.beta + 1) == pytest.approx(0.02)

    between = fitted_answers([9, 5, 1], [10] * 3)
    assert between.mean == pytest.approx(0.5)
    assert 1 / (between.alpha + between.beta + 1) == pytest.approx(0.6)


def test_what_was_always_or_never_solved_leaves_room_and_few_tasks_are_taken_to_be_a_little_alike() -> None:
    assert fitted_answers([3, 3], [3, 3]).mean == pytest.approx(6.5 / 7)
    assert fitted_answers([0], [4]).mean == pytest.approx(0.1)
    found = fitted_answers([1, 0, 1], [1, 1, 1])
    assert 1 / (found.alpha + found.beta + 1) == pytest.approx(0.2)


def test_an_effect_on_answers_moves_their_mean_by_its_size_in_either_direction() -> None:
    assert shares(Answers(2, 2), 0.0, 0.3, -0.3) == pytest.approx([0.5, 0.8, 0.2], abs=0.02)


def test_arms_share_how_hard_a_task_is() -> None:
    one, other = drawn(Answers(0.1, 0.1), (0.0, 0.0), MANY, seed=2)

    assert float((one == other).mean()) > 0.85


def test_a_spread_is_each_tasks_distances_from_the_means_of_its_arms_and_widened_for_them() -> None:
    found = seen_spread([{"a": [1.0, 3.0], "b": [10.0]}, {"a": [5.0], "b": [7.0]}])

    wide = 2**0.5
    assert found is not None
    assert found.pools == (pytest.approx((-wide, wide)), pytest.approx((-wide, wide)))
    assert found.variance == pytest.approx(2)


def test_one_run_of_each_arm_says_nothing_of_noise() -> None:
    assert seen_spread([{"a": [1.0], "b": [2.0]}, {"a": []}]) is None


def test_numbers_are_drawn_from_their_own_tasks_and_moved_by_the_effect() -> None:
    base, moved = drawn(Spread(((0.0,), (-1.0, 1.0))), (0.0, 5.0), Shape(plays=50, tasks=2, trials=3), seed=3)

    assert set(base[:, 0].ravel().tolist()) == {0.0}
    assert set(base[:, 1].ravel().tolist()) == {-1.0, 1.0}
    assert set(moved[:, 0].ravel().tolist()) == {5.0}
    assert set(moved[:, 1].ravel().tolist()) == {4.0, 6.0}


def test_only_the_runs_that_both_arms_have_are_compared() -> None:
    values = np.array([[[[5.0, 7.0], [1.0, 1.0]]], [[[1.0, 1.0], [4.0, 9.0]]]])

    assert sums_of_differences(values, 0, 1, [2, 1]) == [[10.0, -3.0]]
    assert sums_of_differences(values, 0, 1, [1, 0]) == [[4.0, 0.0]]


def test_one_seed_draws_the_same_again() -> None:
    first, again = (drawn(Answers(1, 1), (0.0,), MANY, seed=5) for _ in range(2))

    assert (first == again).all()
