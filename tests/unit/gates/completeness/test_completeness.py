import pytest

from farm.errors import SpecError
from farm.gates.completeness import CompletenessGate
from farm.gates.protocol import Judgement
from farm.gates.table import Row
from farm.model import Check, Decision, Fault, FaultKind, Measured, OracleFinding, ScopeFinding, Unsettled
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_table

GATE = CompletenessGate()
TASKS = ("one", "two")


def rows(changes: dict[At, dict[str, object]]) -> tuple[Row, ...]:
    places = (At(arm, trial, task) for task in TASKS for trial in (1, 2) for arm in (OFF, ON))
    return tuple(a_row(at, **changes.get(at, {})) for at in places)


def judged(changes: dict[At, dict[str, object]], **options: object) -> Judgement:
    table = a_table(rows(changes), a_plan(TASKS, trials=2))
    return GATE.judge(table, GATE.policy(options, TASKS))


def check(judgement: Judgement, name: str, arm: str) -> Check:
    return next(one for one in judgement.checks if (one.name, one.subject) == (name, arm))


def test_every_planned_cell_that_is_judged_passes_right_or_wrong_within_its_scope_or_not() -> None:
    wrong = {"oracle": OracleFinding(correct=False), "scope": ScopeFinding(before_oracle=("x",))}

    judgement = judged({At(ON, 1, "one"): wrong})

    assert judgement.decision is Decision.PASS
    assert judgement.summary == "All 8 planned cells were measured."
    assert judgement.findings == {"planned": 8, "missing": 0, "reasons": {}, "cells": {}}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"unsettled": Unsettled.NEVER_STARTED, "oracle": None}, "never-started"),
        ({"fault": Fault(kind=FaultKind.HOST, detail="disk"), "oracle": None}, "host fault"),
        ({"oracle": OracleFinding(correct=None, problem="killed")}, "not judged"),
        ({"oracle": None}, "not judged"),
    ],
)
def test_one_cell_without_a_judged_answer_fails_and_is_named_with_its_reason(
    changes: dict[str, object], why: str
) -> None:
    judgement = judged({At(ON, 2, "two"): changes})

    assert judgement.decision is Decision.FAIL
    assert judgement.findings["cells"] == {f"two.{ON}.2": why}
    assert judgement.findings["reasons"] == {why: 1}
    assert judgement.summary == f"7 of 8 planned cells were measured; missing: two.{ON}.2. Too few of {ON}."
    assert check(judgement, "measured-of-arm", ON).observed == 0.75
    assert check(judgement, "measured-of-arm", OFF).holds is True


def test_a_share_of_an_arm_that_is_just_reached_is_enough() -> None:
    lost = {At(ON, 2, "two"): {"oracle": None}}

    assert judged(lost, of_arm=0.75).decision is Decision.PASS
    assert judged(lost, of_arm=0.76).decision is Decision.FAIL


def test_a_floor_of_each_task_holds_where_the_arm_as_a_whole_has_enough() -> None:
    lost = {At(ON, trial, "two"): {"oracle": None} for trial in (1, 2)}

    assert judged(lost, of_arm=0.5).decision is Decision.PASS
    judgement = judged(lost, of_arm=0.5, of_task=0.5)
    assert judgement.decision is Decision.FAIL
    found = check(judgement, "measured-of-each-task", ON)
    assert (found.observed, found.holds, found.note) == (0, False, "two 0 of 2")
    assert judged({At(ON, 1, "two"): {"oracle": None}}, of_arm=0.5, of_task=0.5).decision is Decision.PASS


@pytest.mark.parametrize(
    "measured",
    [
        {},
        {"bash_tool_calls": Measured(name="bash_tool_calls", value=None, problem="nobody said")},
        {"bash_tool_calls": Measured(name="bash_tool_calls", value=-1, problem="below 0")},
    ],
)
def test_a_metric_that_is_asked_for_must_have_a_number_within_its_bounds(measured: dict[str, Measured]) -> None:
    lost = {At(OFF, 1, "one"): {"metrics": measured}}

    assert judged(lost).decision is Decision.PASS
    judgement = judged(lost, metrics=["bash_tool_calls"])
    assert judgement.decision is Decision.FAIL
    assert judgement.findings["cells"] == {f"one.{OFF}.1": "no bash_tool_calls"}


def test_a_metric_that_the_plan_does_not_declare_leaves_nothing_to_judge() -> None:
    judgement = judged({}, metrics=["seconds"])

    assert (judgement.decision, judgement.checks) == (Decision.INCONCLUSIVE, ())
    assert judgement.summary == "Nothing to judge: the plan declares no metric 'seconds'."
    assert GATE.needed_metrics(GATE.policy({"metrics": ["seconds"]}, TASKS)) == ("seconds",)


def test_nothing_is_let_through_by_default() -> None:
    assert GATE.policy({}, TASKS) == {"of_arm": 1.0, "of_task": 0.0, "metrics": []}


def test_an_option_out_of_bounds_is_refused_by_its_name() -> None:
    with pytest.raises(SpecError, match=r"gate completeness: of_arm: .*its options are: of_arm, of_task, metrics"):
        GATE.policy({"of_arm": 1.5}, TASKS)


def test_many_missing_cells_are_counted_in_full_and_the_first_are_told() -> None:
    lost = {At(arm, trial, task): {"oracle": None} for task in TASKS for trial in (1, 2) for arm in (OFF, ON)}

    judgement = judged(lost)

    assert judgement.findings["missing"] == 8
    assert judgement.summary.endswith(f"one.{ON}.2, two.{OFF}.1 and 3 more. Too few of {OFF}, {ON}.")


def test_of_very_many_missing_cells_the_first_thousand_are_named() -> None:
    plan = a_plan(("one",), trials=501)
    lost = tuple(a_row(At(cell.arm, cell.trial, cell.task), oracle=None) for cell in plan.cells)

    judgement = GATE.judge(a_table(lost, plan), GATE.policy({}, ("one",)))

    named = judgement.findings["cells"]
    assert isinstance(named, dict)
    assert (len(named), judgement.findings["missing"]) == (1000, 1002)
