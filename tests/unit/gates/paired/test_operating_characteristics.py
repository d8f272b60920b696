import random
import time
from collections.abc import Callable

import pytest

from farm.gates.paired.operating import Operating, operating
from farm.gates.paired.policy import PairedPolicy, Question
from farm.gates.pairs import ArmPair
from farm.gates.table import Row, Table
from farm.model import Number, OracleFinding
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_table

METRIC = "bash_tool_calls"
NUMBERS = PairedPolicy(metric=METRIC)


def tasks(count: int) -> tuple[str, ...]:
    return tuple(f"task-{number:03}" for number in range(count))


def a_sweep(count: int, trials: int, run: Callable[[At], Row]) -> Table:
    plan = a_plan(tasks(count), trials)
    return a_table(tuple(run(At(cell.arm, cell.trial, cell.task)) for cell in plan.cells), plan)


def answered(count: int = 12, trials: int = 3) -> Table:
    """Make a sweep whose tasks are of every difficulty."""
    dice = random.Random(4)  # noqa: S311 (a test's numbers)

    def run(at: At) -> Row:
        likely = (int(at.task[-3:]) + 1) / (count + 1)
        return a_row(at, oracle=OracleFinding(correct=dice.random() < likely))

    return a_sweep(count, trials, run)


def numbered(count: int = 12, trials: int = 3, spread: float = 3.0) -> Table:
    """Make a sweep of numbers about 20 and more, whose runs lie `spread` apart."""
    dice = random.Random(5)  # noqa: S311 (a test's numbers)

    def run(at: At) -> Row:
        return a_row(at, 20 + int(at.task[-3:]) + dice.gauss(0, spread))

    return a_sweep(count, trials, run)


def at_gains(found: Operating) -> dict[float, float]:
    return {one.gain: one.passes for one in found.power}


def test_arms_that_are_alike_pass_seldom_and_power_grows_with_the_gain() -> None:
    found = operating(answered(), PairedPolicy())

    assert found.alike is not None
    assert found.alike.passes <= 0.05
    assert found.at_bound == found.alike
    gains = at_gains(found)
    assert list(gains) == [0.1, 0.2, 0.3]
    assert found.alike.passes < gains[0.1] < gains[0.2] < gains[0.3]
    assert found.least_gain is not None
    assert 0.3 < found.least_gain < 0.6
    assert found.alike.played == 200
    assert found.alike.standard_error == pytest.approx((found.alike.passes * (1 - found.alike.passes) / 200) ** 0.5)


def test_more_trials_and_more_tasks_see_less() -> None:
    few, many, wide = (operating(answered(*shape), PairedPolicy()) for shape in ((12, 3), (12, 9), (24, 3)))

    assert few.least_gain is not None
    assert many.least_gain is not None
    assert wide.least_gain is not None
    assert many.least_gain < few.least_gain
    assert wide.least_gain < few.least_gain


def test_five_tasks_can_show_nothing_however_large() -> None:
    found = operating(answered(5, 20), PairedPolicy())

    assert set(at_gains(found).values()) == {0.0}
    assert found.least_gain is None


def test_numbers_are_played_with_the_noise_of_their_own_runs() -> None:
    quiet, loud = (operating(numbered(spread=spread), NUMBERS) for spread in (1.0, 10.0))

    assert quiet.least_gain is not None
    assert loud.least_gain is not None
    assert loud.least_gain == pytest.approx(10 * quiet.least_gain, rel=0.15)
    assert quiet.alike is not None
    assert quiet.alike.passes <= 0.06


def test_stated_gains_of_numbers_are_parts_of_what_the_incumbent_has() -> None:
    table = numbered()
    theirs = [row.metrics[METRIC].value for row in table.rows if row.arm == OFF]
    mean = sum(one for one in theirs if one is not None) / len(theirs)

    assert list(at_gains(operating(table, NUMBERS))) == pytest.approx([mean / 10, mean / 5, mean * 3 / 10], rel=1e-3)


def test_of_a_margin_it_is_told_how_often_what_is_just_not_enough_passes() -> None:
    rules = PairedPolicy(metric=METRIC, question=Question.NON_INFERIORITY, margin=6)

    found = operating(numbered(), rules)

    assert found.at_bound is not None
    assert found.alike is not None
    assert (found.at_bound.gain, found.alike.gain) == (-6, 0)
    assert found.at_bound.passes <= 0.06
    assert found.alike.passes > 0.9
    assert found.least_gain is not None
    assert -6 < found.least_gain < 0


def test_a_check_of_controls_holds_back_passes() -> None:
    control = ArmPair(candidate=ON, incumbent=OFF)
    table = numbered()

    free = operating(table, NUMBERS)
    held = operating(table, NUMBERS.model_copy(update={"control": control}))

    assert free.power[0].passes > 0.8
    assert held.power[0].passes < 0.2, "the control gains as much as the candidate: it is the same arm"


@pytest.mark.parametrize(
    ("table", "rules", "why"),
    [
        (numbered(trials=1), NUMBERS, "no task has two runs of one arm"),
        (numbered(spread=0.0), NUMBERS, "runs of one task and arm never differed in bash_tool_calls"),
        (a_sweep(8, 2, lambda at: a_row(at, oracle=None)), PairedPolicy(), "no run was measured of both arms"),
        (answered(), PairedPolicy(pairs=(ArmPair(candidate=ON, incumbent="x"),)), "there is nothing to compare"),
        (numbered(300), NUMBERS, "the sweep is too large for it"),
        (a_sweep(6, 1700, a_row), PairedPolicy(), "the sweep is too large for it"),
    ],
)
def test_what_cannot_be_played_is_said_and_has_no_numbers(table: Table, rules: PairedPolicy, why: str) -> None:
    found = operating(table, rules)

    assert found.note.startswith(f"Not played: {why}")
    assert (found.alike, found.power, found.least_gain) == (None, (), None)


def test_runs_that_were_not_measured_are_not_played() -> None:
    values: dict[bool, Number | None] = {True: 3, False: None}
    few = a_sweep(12, 9, lambda at: a_row(at, oracle=OracleFinding(correct=at.trial % 2 == 0)))
    lost = a_sweep(12, 9, lambda at: a_row(at, values[at.trial < 3], oracle=OracleFinding(correct=at.trial % 2 == 0)))
    lost = lost.model_copy(
        update={"rows": tuple(row if row.trial < 3 else row.model_copy(update={"oracle": None}) for row in lost.rows)}
    )

    whole, part = operating(few, PairedPolicy()), operating(lost, PairedPolicy())

    assert whole.least_gain is not None
    assert part.least_gain is not None
    assert part.least_gain > whole.least_gain


def test_the_same_table_is_played_alike_and_quickly() -> None:
    began = time.process_time()
    found = operating(numbered(20, 5), NUMBERS)
    assert time.process_time() - began < 5, "about half a second on a quiet core"

    assert operating(numbered(20, 5), NUMBERS) == found
