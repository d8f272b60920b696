"""What earlier sweeps say of a plan that is to be played."""

import pytest

from farm.errors import SpecError
from farm.gates.table import Row
from farm.model import Number, OracleFinding
from farm.planning.earlier import Earlier, Numbers, default_effects
from farm.stats.power import Difficulty
from farm.stats.truth import Spread
from tests.builders.gates import BASH_CALLS, BEHAVIOURS, OFF, ON, At, a_plan, a_row

TASKS = ("one", "two", "new")
PLAN = a_plan(TASKS, trials=2)
SAID = Difficulty(1, 2)


def a_run(task: str, arm: str, trial: int, calls: Number, *, right: bool = True) -> Row:
    return a_row(At(arm, trial, task), calls, oracle=OracleFinding(correct=right))


ROWS = (
    a_run("one", OFF, 1, 10),
    a_run("one", OFF, 2, 14, right=False),
    a_run("one", ON, 1, 3),
    a_run("two", OFF, 1, 30, right=False),
    a_run("elsewhere", OFF, 1, 900),
    a_row(At("another", 1, "one"), 900),
)


def test_numbers_are_the_incumbents_means_and_what_runs_of_the_plans_arms_lie_apart() -> None:
    found = Earlier(PLAN, ROWS).numbers(BASH_CALLS.name)

    assert found is not None
    assert found.means == (12, 30, 21), "a task that nobody measured is as the others are on average"
    assert found.spread.pools[0] == pytest.approx((-(8**0.5), 8**0.5))
    assert found.mean == 21


def test_a_run_that_gains_is_lower_where_lower_is_better_and_stays_in_bounds() -> None:
    lower = Numbers(BASH_CALLS, (5.0,), Spread(((0.0,),)))
    higher = Numbers(BEHAVIOURS, (1.0,), Spread(((0.0,),)))

    assert [lower.value(0, gained) for gained in (2.0, -2.0, 9.0)] == [3, 7, 0]
    assert [higher.value(0, gained) for gained in (1.0, -0.5, 9.0, -9.0)] == [2, 0.5, 3, 0]


def test_how_hard_tasks_are_is_fitted_to_the_incumbents_answers_unless_a_person_says_it() -> None:
    earlier = Earlier(PLAN, ROWS)

    assert earlier.difficulty(None, SAID).mean == pytest.approx(1.5 / 4)
    assert earlier.difficulty(0.4, SAID) == SAID


def test_without_an_earlier_sweep_nothing_is_taken_from_one() -> None:
    nothing = Earlier(PLAN, ())

    assert nothing.difficulty(None, SAID) == SAID
    assert nothing.numbers(BASH_CALLS.name) is None
    assert Earlier(PLAN, ROWS).numbers() is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[2:3], "hold no 'bash_tool_calls' of an incumbent"),
        (ROWS[3:4], "no task has two runs of one arm there"),
    ],
)
def test_an_earlier_sweep_that_does_not_say_enough_is_refused(rows: tuple[Row, ...], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        Earlier(PLAN, rows).numbers(BASH_CALLS.name)


def test_answers_of_no_incumbent_are_no_answers() -> None:
    with pytest.raises(SpecError, match="no judged answer of an incumbent"):
        Earlier(PLAN, ROWS[2:3]).difficulty(None, SAID)


def test_effects_are_parts_of_all_answers_or_of_the_metrics_mean() -> None:
    assert default_effects(SAID) == (0, 0.05, 0.1, 0.2, 0.3)
    assert default_effects(Numbers(BASH_CALLS, (20.0,), Spread(((0.0,),)))) == pytest.approx((0, 1, 2, 4, 6))
