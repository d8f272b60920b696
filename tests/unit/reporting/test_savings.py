from decimal import Decimal

import pytest

from farm.model import ArmRole
from farm.reporting.medians import Medians, TaskLine
from farm.reporting.savings import Saving, SavingLine, incumbents_of, saving_lines
from tests.builders.gates import OFF, ON, TWO_ARMS, an_arm


def a_line(arm: str, correct: int = 3, measured: int = 3, judged: int | None = None, **medians) -> TaskLine:
    return TaskLine(
        task="answer",
        arm=arm,
        cells=3,
        measured=measured,
        reused=0,
        verified=0,
        verify_passed=0,
        judged=measured if judged is None else judged,
        correct=correct,
        medians=Medians(**medians),
    )


def saved(on: TaskLine, off: TaskLine) -> SavingLine:
    (line,) = saving_lines(TWO_ARMS, (off, on))
    return line


def test_a_share_is_what_was_saved_of_the_incumbents_median() -> None:
    on = a_line(ON, tokens=75, input_tokens=200, cost_usd=Decimal("0.1"), duration_s=5.0)
    off = a_line(OFF, tokens=100, input_tokens=100, cost_usd=Decimal("0.4"), duration_s=5.0)
    line = saved(on, off)
    assert (line.tokens, line.input_tokens, line.cost_usd, line.duration_s) == (0.25, -1, 0.75, 0)
    assert (line.saving, line.note) == (Saving.EARNED, "")


@pytest.mark.parametrize(
    ("on", "note"),
    [
        (a_line(ON, correct=2, tokens=1), "of 3 cells 1 wrong"),
        (a_line(ON, correct=0, tokens=1), "of 3 cells 3 wrong"),
        (a_line(ON, correct=2, judged=2, tokens=1), "of 3 cells 1 never judged"),
        (a_line(ON, correct=1, measured=2, tokens=1), "of 3 cells 1 wrong, 1 without a measurement"),
    ],
)
def test_tokens_saved_on_a_failed_task_are_flagged(on: TaskLine, note: str) -> None:
    line = saved(on, a_line(OFF, correct=0, tokens=100))
    assert (line.saving, line.note) == (Saving.FAILED, note)


def test_money_saved_on_a_failed_task_is_flagged_where_tokens_are_unknown() -> None:
    on, off = a_line(ON, correct=0, cost_usd=Decimal(1)), a_line(OFF, cost_usd=Decimal(2))
    assert saved(on, off).saving is Saving.FAILED


def test_whoever_spends_more_saves_nothing_right_or_wrong() -> None:
    for correct in (0, 3):
        on = a_line(ON, correct=correct, tokens=200, cost_usd=Decimal(3))
        assert saved(on, a_line(OFF, tokens=100, cost_usd=Decimal(3))).saving is Saving.NONE


@pytest.mark.parametrize(("ours", "theirs"), [(None, 100), (100, None), (100, 0)])
def test_a_share_of_what_is_unknown_or_zero_is_unknown(ours: int | None, theirs: int | None) -> None:
    line = saved(a_line(ON, tokens=ours), a_line(OFF, tokens=theirs))
    assert (line.tokens, line.saving) == (None, Saving.UNKNOWN)


def test_an_arm_is_set_against_the_nearest_incumbent_before_it_or_the_first() -> None:
    arms = (
        an_arm("control", ArmRole.CONTROL),
        an_arm("one", ArmRole.INCUMBENT),
        an_arm("one-new", ArmRole.CANDIDATE),
        an_arm("two", ArmRole.INCUMBENT),
        an_arm("two-new", ArmRole.CANDIDATE),
    )
    assert incumbents_of(arms) == {"control": "one", "one-new": "one", "two-new": "two"}


def test_an_arm_that_names_its_incumbent_is_set_against_that_one() -> None:
    one, two = (an_arm(name, ArmRole.INCUMBENT) for name in ("one", "two"))
    new = an_arm("new", ArmRole.CANDIDATE).model_copy(update={"incumbent": "one"})
    assert incumbents_of((one, two, new)) == {"new": "one"}


def test_a_sweep_without_an_incumbent_has_no_savings() -> None:
    arms = (an_arm(ON, ArmRole.CONTROL), an_arm(OFF, ArmRole.COMPARATOR))
    assert saving_lines(arms, (a_line(ON), a_line(OFF))) == ()
