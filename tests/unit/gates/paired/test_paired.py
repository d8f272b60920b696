from collections.abc import Mapping

import pytest

from farm.errors import SpecError
from farm.gates.paired import PairedGate
from farm.gates.protocol import Judgement
from farm.gates.table import Lifecycle, Row
from farm.model import (
    Check,
    CloseReason,
    Decision,
    Direction,
    Fault,
    FaultKind,
    OracleFinding,
    Plan,
    ScopeFinding,
    Unsettled,
)
from tests.builders.gates import BASH_CALLS, BEHAVIOURS, ENDED_WELL, OFF, ON, At, a_plan, a_row, a_table

TASKS = tuple(f"task-{number}" for number in range(8))
Answers = Mapping[str, bool | None]


def answered(arm: str, answers: Answers) -> list[Row]:
    """Make one row a task: right, wrong, or never measured."""
    return [
        a_row(At(arm, 1, task), fault=Fault(kind=FaultKind.HOST, detail="gone"), oracle=None, scope=None)
        if right is None
        else a_row(At(arm, 1, task), oracle=OracleFinding(correct=right))
        for task, right in answers.items()
    ]


def judged(on: Answers, off: Answers, lifecycle: Lifecycle = ENDED_WELL, **options) -> Judgement:
    gate = PairedGate()
    rows = (*answered(ON, on), *answered(OFF, off))
    plan = a_plan(TASKS, trials=1)
    return gate.judge(a_table(rows, plan, lifecycle), gate.policy(options, TASKS))


def check_of(found: Judgement, name: str) -> Check:
    return next(check for check in found.checks if check.name == name)


ALL_RIGHT = dict.fromkeys(TASKS, True)
ALL_WRONG = dict.fromkeys(TASKS, False)
FIVE_RIGHT = {task: number < 5 for number, task in enumerate(TASKS)}
SIX_RIGHT = {task: number < 6 for number, task in enumerate(TASKS)}


def test_six_tasks_in_one_direction_are_enough_and_five_are_not() -> None:
    six, five = judged(SIX_RIGHT, ALL_WRONG), judged(FIVE_RIGHT, ALL_WRONG)

    assert (six.decision, check_of(six, "sign-flip").observed) == (Decision.PASS, 0.03125)
    assert (five.decision, check_of(five, "sign-flip").observed) == (Decision.INCONCLUSIVE, 0.0625)
    assert six.summary == f"{ON} against {OFF}: better (gain +0.75, p 0.03125)."


def test_a_candidate_that_is_shown_to_be_worse_fails() -> None:
    found = judged(ALL_WRONG, SIX_RIGHT)

    assert found.decision is Decision.FAIL
    assert check_of(found, "gain").holds is False
    assert "worse (gain -0.75" in found.summary


def test_arms_alike_decide_nothing() -> None:
    assert judged(SIX_RIGHT, SIX_RIGHT).decision is Decision.INCONCLUSIVE


def test_a_gain_below_the_margin_is_no_superiority_and_no_harm() -> None:
    """It is clearly less than the margin, and clearly more than nothing."""
    found = judged(SIX_RIGHT, ALL_WRONG, margin=1)

    assert found.decision is Decision.INCONCLUSIVE
    assert "not shown to be better" in found.summary


def test_no_difference_at_all_is_not_worse_by_a_margin() -> None:
    found = judged(ALL_RIGHT, ALL_RIGHT, question="non-inferiority", margin=0.1)

    assert (found.decision, check_of(found, "gain").threshold) == (Decision.PASS, -0.1)


def test_a_loss_beyond_the_margin_fails_non_inferiority() -> None:
    assert judged(ALL_WRONG, ALL_RIGHT, question="non-inferiority", margin=0.1).decision is Decision.FAIL


def test_a_run_without_a_number_takes_its_partner_out_and_is_told() -> None:
    found = judged(SIX_RIGHT | {TASKS[7]: None}, ALL_WRONG, least_coverage=0.8)
    coverage = check_of(found, "coverage")

    assert found.decision is Decision.PASS
    assert (coverage.observed, coverage.note) == (0.875, "7 of 8 pairs of runs measured; 1 host fault")


def test_below_the_floor_of_coverage_nothing_is_decided() -> None:
    found = judged(SIX_RIGHT | {TASKS[7]: None}, ALL_WRONG)

    assert (found.decision, check_of(found, "coverage").holds) == (Decision.INCONCLUSIVE, None)


def test_what_never_settled_is_missing_and_never_zero() -> None:
    gate, plan = PairedGate(), a_plan(TASKS, trials=1)
    lost = a_row(At(ON, 1, TASKS[0]), unsettled=Unsettled.STOPPED, oracle=None, scope=None)
    found = gate.judge(a_table((lost, *answered(OFF, ALL_RIGHT)), plan), gate.policy({}, TASKS))

    assert found.decision is Decision.INCONCLUSIVE
    assert check_of(found, "coverage").note == "0 of 1 pairs of runs measured; 1 stopped"
    assert check_of(found, "gain").observed is None


def test_a_right_answer_outside_its_scope_is_wrong() -> None:
    gate, plan = PairedGate(), a_plan(TASKS, trials=1)
    strayed = [a_row(At(ON, 1, task), scope=ScopeFinding(before_oracle=("other.py",))) for task in TASKS]
    found = gate.judge(a_table((*strayed, *answered(OFF, ALL_RIGHT)), plan), gate.policy({}, TASKS))

    assert found.decision is Decision.FAIL


@pytest.mark.parametrize("close", [CloseReason.BREAKER, CloseReason.CANCELLED, CloseReason.DEADLINE])
def test_a_sweep_that_did_not_run_to_its_end_decides_nothing(close: CloseReason) -> None:
    found = judged(SIX_RIGHT, ALL_WRONG, Lifecycle(close=close, cleanup_incomplete=False))

    assert found.decision is Decision.INCONCLUSIVE
    assert found.summary.startswith(f"Nothing is decided (sweep-complete: {close}).")


def test_controls_that_differ_decide_nothing() -> None:
    control = {"candidate": OFF, "incumbent": ON}
    found = judged(SIX_RIGHT, ALL_WRONG, control=control)

    assert found.decision is Decision.INCONCLUSIVE
    assert check_of(found, "controls-alike").note == "their difference is -0.75"


@pytest.mark.parametrize("metric", [BASH_CALLS, BEHAVIOURS], ids=lambda metric: metric.direction)
def test_a_declared_metric_is_compared_in_its_own_direction(metric) -> None:
    gate, plan = PairedGate(), a_plan(TASKS, trials=1, metric=metric)
    rows = [a_row(At(arm, 1, task), value, metric) for arm, value in ((ON, 1), (OFF, 3)) for task in TASKS]
    found = gate.judge(a_table(tuple(rows), plan), gate.policy({"metric": metric.name}, TASKS))

    assert gate.needed_metrics(gate.policy({"metric": metric.name}, TASKS)) == (metric.name,)
    assert found.decision is (Decision.PASS if metric.direction is Direction.LOWER else Decision.FAIL)


def test_two_pairs_share_one_alpha() -> None:
    """What one pair alone would pass, p 0.03125, passes twice no more."""
    pairs = [{"candidate": ON, "incumbent": OFF}, {"candidate": OFF, "incumbent": ON}]
    found = judged(SIX_RIGHT, ALL_WRONG, pairs=pairs)

    assert found.decision is Decision.INCONCLUSIVE
    assert check_of(found, "sign-flip").observed == 0.0625


@pytest.mark.parametrize(("named", "decision"), [(OFF, Decision.PASS), (None, Decision.INCONCLUSIVE)])
def test_of_several_incumbents_a_candidate_is_set_against_the_one_that_it_names(
    named: str | None, decision: Decision
) -> None:
    plain = a_plan(TASKS, trials=1)
    arms = [arm.model_copy(update={"incumbent": named if arm.name == ON else None}) for arm in plain.arms]
    other = plain.arm_by_name[OFF].model_copy(update={"name": "other"})
    plan = Plan.model_validate(plain.model_dump() | {"arms": (*arms, other)})
    gate = PairedGate()
    rows = (*answered(ON, SIX_RIGHT), *answered(OFF, ALL_WRONG))
    found = gate.judge(a_table(rows, plan), gate.policy({}, TASKS))

    assert found.decision is decision
    assert (f"{ON} against {OFF}" in found.summary) == (named is not None)


def test_trials_within_a_task_weigh_as_one_task() -> None:
    gate, plan = PairedGate(), a_plan(("hard",), trials=9)
    rows = [
        a_row(At(arm, trial, "hard"), oracle=OracleFinding(correct=arm == ON))
        for arm in (ON, OFF)
        for trial in range(1, 10)
    ]
    found = gate.judge(a_table(tuple(rows), plan), gate.policy({}, ("hard",)))

    assert (found.decision, check_of(found, "sign-flip").observed) == (Decision.INCONCLUSIVE, 1.0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"question": "non-inferiority"}, "needs a margin above 0"),
        ({"margin": -1}, "margin"),
        ({"alpha": 0}, "alpha"),
        ({"least_coverage": 1.5}, "least_coverage"),
        ({"pairs": [{"candidate": "a", "incumbent": "a"}]}, "can't be compared with itself"),
        ({"pairs": [{"candidate": "a", "incumbent": "b"}] * 2}, "the same two arms twice"),
        ({"metrics": "x"}, "metrics"),
    ],
)
def test_a_policy_that_is_wrong_is_named(options: dict, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        PairedGate().policy(options, TASKS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pairs": [{"candidate": "new", "incumbent": OFF}]}, "the plan holds no arm 'new'"),
        ({"metric": "speed"}, "the plan declares no metric 'speed'"),
    ],
)
def test_a_plan_that_lacks_what_the_policy_names_is_inconclusive(options: dict, said: str) -> None:
    found = judged(ALL_RIGHT, ALL_RIGHT, **options)

    assert (found.decision, found.summary) == (Decision.INCONCLUSIVE, f"Nothing to judge: {said}.")


def test_the_same_table_gives_the_same_judgement_in_any_order_of_its_rows() -> None:
    gate, plan = PairedGate(), a_plan(TASKS, trials=1)
    rows = (*answered(ON, SIX_RIGHT), *answered(OFF, ALL_WRONG))
    policy = gate.policy({}, TASKS)

    assert gate.judge(a_table(rows, plan), policy) == gate.judge(a_table(rows[::-1], plan), policy)
