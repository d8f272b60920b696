"""The promotion gate's policy, and what of its decisions is told."""

from decimal import Decimal
from typing import Any

import pytest

from farm.errors import SpecError
from farm.gates.promotion import PromotionGate
from farm.gates.promotion.policy import Policy, read_policy
from farm.model import (
    Churn,
    Decision,
    OracleFinding,
)
from tests.builders.gates import OFF, ON, At
from tests.builders.promotion import an_implementation
from tests.builders.promotion_rows import (
    CHEAP,
    CLEAN,
    DEAR,
    TASKS,
    costing,
    decided,
    each,
    judged,
    reviewed,
    the_plan,
    told,
)


def test_the_policy_is_pinned_with_its_defaults() -> None:
    gate = PromotionGate()

    assert gate.policy({}, TASKS) == {
        "work": "implementation",
        "pairs": [],
        "metric": "cost_usd",
        "min_runs": 3,
        "min_improvement_pct": 5.0,
        "max_task_regression_pct": 20.0,
        "max_ungated_regression_pct": 100.0,
        "least_gated_share": "1/2",
        "least_margin": 2,
    }
    assert gate.policy({"work": "review"}, TASKS) == {
        "work": "review",
        "pairs": [],
        "min_runs": 3,
        "min_improvement": 0.01,
        "tolerance": 1e-09,
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"work": "other"}, "work is 'other'; give implementation or review"),
        ({"metric": "speed"}, "metric"),
        ({"min_runs": 0}, "min_runs"),
        ({"least_gated_share": "3/2"}, "'3/2' is not a share"),
        ({"work": "review", "metric": "cost_usd"}, "metric"),
        ({"min_improvement_pct": -1}, "min_improvement_pct"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match="gate promotion") as raised:
        PromotionGate().policy(options, TASKS)

    assert said in str(raised.value)


@pytest.mark.parametrize(("share", "decision"), [("0/1", Decision.PASS), ("1/1", Decision.INCONCLUSIVE)])
def test_the_share_of_gated_tasks_may_be_any(share: str, decision: Decision) -> None:
    ours, theirs = (each(costing("1", resolved=False), ("three",), arm) for arm in (ON, OFF))
    found = judged([*CHEAP[:6], *ours], [*DEAR[:6], *theirs], least_gated_share=share)

    assert found.decision is decision


@pytest.mark.parametrize(
    ("options", "decision"),
    [
        ({}, Decision.PASS),
        ({"min_runs": 4}, Decision.INCONCLUSIVE),
        ({"min_improvement_pct": 5.1}, Decision.FAIL),
    ],
)
def test_each_threshold_decides(options: dict[str, Any], decision: Decision) -> None:
    assert judged(CHEAP, DEAR, **options).decision is decision


def test_numbers_are_exact_whatever_a_double_makes_of_them() -> None:
    """0.36 to 0.342 is five percent; in doubles it is less."""
    found = judged(each(costing("0.342")), each(costing("0.36"), arm=OFF))

    assert (found.decision, decided(found)["median_improvement_pct"]) == (Decision.PASS, 5)
    assert Decimal("0.36") * 95 / 100 == Decimal("0.342")
    assert (0.36 - 0.342) / 0.36 < 0.05


def test_all_that_a_decision_is_made_of_stands_in_it() -> None:
    churn = Churn(files=2, added_lines=10, removed_lines=3, binary_files=0)
    wrong = an_implementation(At(OFF, 3, "three"), cost="1.00", oracle=OracleFinding(correct=False), churn=churn)
    found = judged(CHEAP, [*DEAR[:-1], wrong])
    incumbent = decided(found)["tasks"][2]["incumbent"]

    assert (incumbent["runs"], incumbent["resolved"], incumbent["error_kinds"]) == (3, 2, {"oracle-failed": 1})
    assert (incumbent["cost_usd"], incumbent["num_turns"], incumbent["diff_files"]) == (1, 3, None)
    assert decided(found)["tasks"][2]["incumbent_resolved"] == "2/3"


def test_what_the_plan_pins_is_read_back_as_it_was() -> None:
    policies: list[Policy] = [read_policy({"work": work}) for work in ("implementation", "review")]

    assert [read_policy(policy.model_dump(mode="json")) for policy in policies] == policies


def test_every_comparison_of_code_is_told_with_its_numbers() -> None:
    found = judged(CHEAP[:3], DEAR[:3], plan=the_plan(("one",)))

    assert told(found) == [
        "model-named: model-a != None",
        "both-arms: 0 == 0",
        "least-runs: 3 >= 3",
        "no-exclusions: 0 == 0",
        "equal-runs: 3 == 3",
        "metric-measured: 0 == 0",
        "incumbent-metric: 1 != 0",
        "resolution: 1 >= 1",
        "quality-floor: 3 == 3",
        "task-regression: 5 >= -20",
        "task-rows: 1 >= 1",
        "gated-tasks: 1 >= 1",
        "gated-share: 1 >= 0.5",
        "sweep-complete: complete == complete",
    ]


def test_every_comparison_of_reviews_is_told_with_its_numbers() -> None:
    found = reviewed(("defect", {"f1": 0.9}, {"f1": 0.5}), CLEAN)

    assert told(found) == [
        "model-named: model-a != None",
        *["both-arms: 0 == 0"] * 2,
        *["least-runs: 3 >= 3"] * 2,
        *["equal-runs: 3 == 3"] * 2,
        *["no-exclusions: 0 == 0"] * 2,
        *["values-known: 0 == 0"] * 2,
        *["verdict-known: True != None"] * 2,
        *["verdict-correct: True != False"] * 2,
        "blocker-recall-known: 1.0 != None",
        "blocker-recall-known: None == None",
        "blocker-recall: 1.0 >= 1.0",
        "clean-false-positives: 0 <= 0",
        "clean-pass: True >= True",
        "weighted-f1: 0.9 >= 0.499999999",
        "sweep-complete: complete == complete",
    ]
