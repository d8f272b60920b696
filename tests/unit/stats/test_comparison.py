from fractions import Fraction

import pytest

from farm.stats.comparison import Trial, compare


def trials(arm: str, **tasks: list[float]) -> list[Trial]:
    return [
        Trial(task, arm, str(number), Fraction(repr(outcome)))
        for task, outcomes in tasks.items()
        for number, outcome in enumerate(outcomes, 1)
    ]


def test_tasks_weigh_the_same_whatever_their_number_of_runs() -> None:
    found = compare([*trials("a", x=[1, 1, 1, 1], y=[0]), *trials("b", x=[0], y=[0])], "a", "b")

    assert found is not None
    assert (found.left_mean, found.right_mean, found.difference.estimate) == (0.5, 0.0, 0.5)
    assert (found.left_runs, found.right_runs) == (5, 2)


def test_what_one_arm_alone_has_is_named_and_counts_for_nothing() -> None:
    found = compare([*trials("a", x=[1], y=[0], z=[1]), *trials("b", x=[0], y=[0])], "a", "b")

    assert found is not None
    assert (found.difference.left_out, found.left_runs, found.left_mean) == (("z",), 2, 0.5)


def test_arms_without_a_common_task_are_not_compared() -> None:
    assert compare([*trials("a", x=[1]), *trials("b", y=[0])], "a", "b") is None


def test_unequal_numbers_of_runs_stay_exact_in_the_sign_flip() -> None:
    """Thirds and halves tie where doubles would not."""
    left = trials("a", x=[1, 0, 0], y=[1, 1, 0], z=[0])
    right = trials("b", x=[0], y=[0], z=[1])
    found = compare([*left, *right], "a", "b")

    assert found is not None
    assert (found.sign_flip.extreme, found.sign_flip.assignments) == (8, 8)  # the sum that was seen is nothing


def test_mcnemar_pairs_runs_by_their_trial_and_only_zeros_and_ones() -> None:
    whole = compare([*trials("a", x=[1, 1, 0], y=[1]), *trials("b", x=[0, 1, 1, 0], y=[0])], "a", "b")
    part = compare([*trials("a", x=[0.5]), *trials("b", x=[1])], "a", "b")

    assert whole is not None
    assert whole.mcnemar is not None
    assert (whole.mcnemar.left_only, whole.mcnemar.right_only) == (2, 1)
    assert part is not None
    assert part.mcnemar is None


def test_the_order_of_the_rows_says_nothing() -> None:
    rows = [*trials("a", x=[1, 0], y=[1, 1], z=[0, 1]), *trials("b", x=[0, 0], y=[1, 0], z=[1, 0])]

    assert compare(rows, "a", "b") == compare(reversed(rows), "a", "b")


def test_turned_round_all_signs_turn() -> None:
    rows = [*trials("a", x=[1, 0], y=[1, 1]), *trials("b", x=[0, 0], y=[1, 0])]
    there, back = compare(rows, "a", "b"), compare(rows, "b", "a")

    assert there is not None
    assert back is not None
    assert there.difference.estimate == -back.difference.estimate
    assert there.sign_flip.p_value == back.sign_flip.p_value
    assert there.difference.standard_error == pytest.approx(back.difference.standard_error)
