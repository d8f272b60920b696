"""The workflow benchmark's decisions, case by case: the deciding rule, all broken ones, and every number."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from farm.gates.promotion import implementation, review
from farm.gates.promotion.aggregate import Aggregate
from farm.gates.promotion.policy import ImplementationPolicy, ReviewPolicy
from farm.gates.promotion.ruling import Contest, Rule, Sweep, Tried
from farm.model import CloseReason
from tests.builders.promotion import an_aggregate

_DATA = Path(__file__).parents[3] / "data"
IMPLEMENTATIONS: list[dict[str, Any]] = json.loads((_DATA / "promotion-implementation-vectors.json").read_text())
REVIEWS: list[dict[str, Any]] = json.loads((_DATA / "promotion-review-vectors.json").read_text())
CLOSES = {"complete": CloseReason.COMPLETE, "aborted": CloseReason.BREAKER}
RULES = {
    "1.no_model": Rule.MODEL_NAMED,
    "1.missing_arm": Rule.BOTH_ARMS,
    "2.missing_arm": Rule.BOTH_ARMS,
    "7.ungated_regression": Rule.UNGATED_REGRESSION,
    "8.min_runs": Rule.LEAST_RUNS,
    "8.excluded": Rule.NO_EXCLUSIONS,
    "8.unequal_counts": Rule.EQUAL_RUNS,
    "8.metric_unmeasured": Rule.METRIC_MEASURED,
    "8.incumbent_metric_zero": Rule.INCUMBENT_METRIC,
    "9.quality_regression": Rule.RESOLUTION,
    "10.quality_floor": Rule.QUALITY_FLOOR,
    "11.efficiency_regression": Rule.TASK_REGRESSION,
    "12.no_task_rows": Rule.TASK_ROWS,
    "12.no_gated_task": Rule.GATED_TASKS,
    "12.gated_share": Rule.GATED_SHARE,
    "14.margin": Rule.MARGIN,
    "14.median": Rule.MEDIAN,
    "14.no_improvement": Rule.IMPROVEMENT,
    "16.sweep_incomplete": Rule.SWEEP_COMPLETE,
    "sweep_incomplete": Rule.SWEEP_COMPLETE,
    "2.min_runs": Rule.LEAST_RUNS,
    "2.unequal_counts": Rule.EQUAL_RUNS,
    "2.excluded": Rule.NO_EXCLUSIONS,
    "3.value_missing": Rule.VALUES_KNOWN,
    "4.verdict_unknown": Rule.VERDICT_KNOWN,
    "4.verdict_wrong": Rule.VERDICT_CORRECT,
    "5.blocker_recall_one_sided": Rule.BLOCKER_RECALL_KNOWN,
    "5.blocker_recall_regression": Rule.BLOCKER_RECALL,
    "6.clean_false_positives": Rule.CLEAN_FALSE_POSITIVES,
    "6.clean_pass_lost": Rule.CLEAN_PASS,
    "7.f1_regression": Rule.WEIGHTED_F1,
    "8.no_improvement": Rule.IMPROVED_CASE,
    "8.promote": Rule.IMPROVED_CASE,
}
"""The benchmark's names against ours."""


def contests(given: list[dict[str, Any]], made: Any) -> list[Contest]:
    return [Contest(one["task"], made(one["incumbent"]), made(one["candidate"])) for one in given]


def the_sweep(given: dict[str, Any]) -> Sweep:
    return Sweep(given["candidate_arm"], given["incumbent_arm"], given["model"], CLOSES[given["run_status"]])


def broken(tried: tuple[Tried, ...]) -> list[tuple[Rule, str | None]]:
    return [(one.rule, one.task) for one in tried if not one.is_met]


def fired(expected: dict[str, Any]) -> list[tuple[Rule, str | None]]:
    return [(RULES[one["rule"]], one["task"]) for one in expected["fired"]]


@pytest.mark.parametrize("vector", IMPLEMENTATIONS, ids=lambda vector: vector["id"])
def test_arms_that_write_code_are_decided_as_the_benchmark_does(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    metric = given["thresholds"]["metric"]

    def made(arm: dict[str, Any] | None) -> Aggregate | None:
        if arm is None:
            return None
        kinds = {"skill-not-invoked": arm["skill_not_invoked"]} if arm["skill_not_invoked"] else {}
        spent = {"cost_usd": None, metric: arm["metric_median"]}
        counts = (arm["valid_runs"], arm["excluded_runs"], arm["resolved"])
        return an_aggregate(*counts, error_kinds=kinds, **spent)

    policy = ImplementationPolicy(**given["thresholds"])
    ruling = implementation.rule_on(contests(given["tasks"], made), policy, the_sweep(given))
    decision = ruling.decision

    assert (decision.decision, ruling.rule) == (expected["decision"], RULES[expected["rule"]])
    assert broken(ruling.tried) == fired(expected)
    assert (list(decision.gated_tasks), list(decision.ungated_tasks)) == (
        expected["gated_tasks"],
        expected["ungated_tasks"],
    )
    assert {one.task: one.improvement_pct for one in decision.tasks} == {
        task: None if pct is None else pytest.approx(pct, abs=1e-9) for task, pct in expected["improvement_pct"].items()
    }
    assert decision.median_improvement_pct == (
        None
        if expected["median_improvement_pct"] is None
        else pytest.approx(expected["median_improvement_pct"], abs=1e-9)
    )
    assert (ruling.margin, ruling.is_noise) == (expected["resolution_margin"], expected["margin_is_noise"])
    assert decision.metric_warning is expected["metric_warning"]


@pytest.mark.parametrize("vector", REVIEWS, ids=lambda vector: vector["id"])
def test_arms_that_review_code_are_decided_as_the_benchmark_does(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]

    def made(arm: dict[str, Any] | None) -> Aggregate | None:
        if arm is None:
            return None
        names = ("weighted_f1", "false_positives", "verdict_correct", "clean_control", "clean_pass")
        said = {f"review_{name}": arm[name] for name in names}
        said["review_blocker_recall"] = arm["blocker_recall_min"]
        return an_aggregate(arm["valid_runs"], arm["excluded_runs"], 0, **said)

    policy = ReviewPolicy(**given["thresholds"])
    ruling = review.rule_on(contests(given["cases"], made), policy, the_sweep(given))

    assert (ruling.decision.decision, ruling.rule) == (expected["decision"], RULES[expected["rule"]])
    assert broken(ruling.tried) == fired(expected)
    assert [one.task for one in ruling.decision.tasks if one.gated] == expected["gated_tasks"]
    assert list(ruling.decision.ungated_tasks) == expected["ungated_tasks"]
    assert list(ruling.improved) == expected["improved_tasks"]


def test_all_cases_are_here() -> None:
    assert (len(IMPLEMENTATIONS), len(REVIEWS)) == (64, 39)


def test_a_third_is_compared_as_a_third() -> None:
    """A saving of one part in three against a threshold just above it."""
    sweep = Sweep("on", "off", "model-a", CloseReason.COMPLETE)
    contest = Contest("fix", an_aggregate(cost_usd=3), an_aggregate(cost_usd=2))
    at, above = (
        implementation.rule_on([contest], ImplementationPolicy(min_improvement_pct=pct), sweep).decision.decision
        for pct in (33.333333333333336 - 1e-14, 33.333333333333336)
    )

    assert Fraction("33.333333333333336") > Fraction(100, 3)
    assert (at, above) == ("promote", "keep_incumbent")
