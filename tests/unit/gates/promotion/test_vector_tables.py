"""The benchmark's decisions once more, from settled rows: what the aggregates are made of decides the same."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from farm.gates.promotion import PromotionGate
from farm.gates.protocol import Judgement
from farm.gates.table import Lifecycle, Row
from farm.model import ArmRole, CloseReason, Decision, ExitReason, OracleFinding, OracleSpec, Plan
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_session, a_table, an_arm
from tests.builders.promotion import an_excluded, an_implementation

_DATA = Path(__file__).parents[3] / "data"
IMPLEMENTATIONS: list[dict[str, Any]] = json.loads((_DATA / "promotion-implementation-vectors.json").read_text())
REVIEWS: list[dict[str, Any]] = json.loads((_DATA / "promotion-review-vectors.json").read_text())
DECISIONS = {
    "promote": Decision.PASS,
    "keep_incumbent": Decision.FAIL,
    "insufficient_evidence": Decision.INCONCLUSIVE,
}
CLOSES = {"complete": CloseReason.COMPLETE, "aborted": CloseReason.BREAKER}


def judged(given: dict[str, Any], tasks: list[dict[str, Any]], rows: list[Row], options: dict[str, Any]) -> Judgement:
    plan = a_plan(tuple(one["task"] for one in tasks) or ("nothing",), trials=1)
    if not tasks:
        plan = plan.model_copy(update={"tasks": ()})
    oracle = OracleSpec(kind="review" if "cases" in given else "command")
    arms = tuple(
        an_arm(name, role).model_copy(
            update={"agent": an_arm(name, role).agent.model_copy(update={"options": {"model": given["model"]}})}
        )
        for name, role in ((OFF, ArmRole.INCUMBENT), (ON, ArmRole.CANDIDATE))
    )
    made = tuple(task.model_copy(update={"oracle": oracle}) for task in plan.tasks)
    plan = Plan.model_validate(plan.model_dump() | {"tasks": made, "arms": arms, "cells": plan.cells if tasks else ()})
    gate = PromotionGate()
    lifecycle = Lifecycle(close=CLOSES[given["run_status"]], cleanup_incomplete=False)
    return gate.judge(a_table(tuple(rows), plan, lifecycle), gate.policy(options, ()))


def places(task: str, arm: str, side: dict[str, Any]) -> tuple[list[At], list[At]]:
    """Give where the valid runs stand, and where the excluded."""
    valid, excluded = side["valid_runs"], side["excluded_runs"]
    trials = [At(arm, trial, task) for trial in range(1, valid + excluded + 1)]
    return trials[:valid], trials[valid:]


def implemented(task: str, arm: str, side: dict[str, Any] | None, metric: str) -> list[Row]:
    if side is None:
        return []
    valid, excluded = places(task, arm, side)
    made = []
    for number, at in enumerate(valid):
        is_unused = number >= len(valid) - side["skill_not_invoked"]
        reason = ExitReason.SKILL_NOT_INVOKED if is_unused else ExitReason.SUCCESS
        row = an_implementation(at, resolved=number < side["resolved"])
        made.append(with_metric(row, metric, side["metric_median"], reason))
    return [*made, *map(an_excluded, excluded)]


def with_metric(row: Row, metric: str, value: float | None, reason: str) -> Row:
    session = a_session(reason=reason, problem=None if reason == "success" else "never used", model=None)
    match metric:
        case "cost_usd":
            return row.model_copy(
                update={"sessions": (session,), "cost_usd": None if value is None else Decimal(str(value))}
            )
        case "duration_s":
            return row.model_copy(update={"sessions": (session,), "duration_s": value})
        case "num_turns":
            return row.model_copy(update={"sessions": (session.model_copy(update={"turns": value}),)})
        case _:
            usage = session.usage.model_copy(update={"output_tokens": value}) if session.usage else None
            return row.model_copy(update={"sessions": (session.model_copy(update={"usage": usage}),)})


def reviewed(task: str, arm: str, side: dict[str, Any] | None) -> list[Row]:
    if side is None:
        return []
    valid, excluded = places(task, arm, side)
    said = {
        "weighted_f1": side["weighted_f1"],
        "false_positives": side["false_positives"],
        "blocker_recall": side["blocker_recall_min"],
        **{name: side[name] for name in ("verdict_correct", "clean_control", "clean_pass")},
    }
    numbers = {name: int(value) if isinstance(value, bool) else value for name, value in said.items()}
    known = {name: value for name, value in numbers.items() if value is not None}
    oracle = OracleFinding(correct=False, numbers=known)
    session = a_session(model=None)
    return [*(a_row(at, oracle=oracle, sessions=(session,)) for at in valid), *map(an_excluded, excluded)]


@pytest.mark.parametrize("vector", IMPLEMENTATIONS, ids=lambda vector: vector["id"])
def test_rows_of_arms_that_write_code_are_decided_as_the_benchmark_does(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    metric = given["thresholds"]["metric"]
    rows = [
        row
        for one in given["tasks"]
        for arm, side in ((ON, "candidate"), (OFF, "incumbent"))
        for row in implemented(one["task"], arm, one[side], metric)
    ]
    found = judged(given, given["tasks"], rows, given["thresholds"])
    (decision,) = found.findings["decisions"]  # type: ignore[misc] (JSON)
    record: Any = decision

    assert (found.decision, record["decision"]) == (DECISIONS[expected["decision"]], expected["decision"])
    assert (record["gated_tasks"], record["ungated_tasks"]) == (expected["gated_tasks"], expected["ungated_tasks"])
    median = expected["median_improvement_pct"]
    assert record["median_improvement_pct"] == (None if median is None else pytest.approx(median, abs=1e-9))


@pytest.mark.parametrize("vector", REVIEWS, ids=lambda vector: vector["id"])
def test_rows_of_arms_that_review_code_are_decided_as_the_benchmark_does(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], vector["expected"]
    rows = [
        row
        for one in given["cases"]
        for arm, side in ((ON, "candidate"), (OFF, "incumbent"))
        for row in reviewed(one["task"], arm, one[side])
    ]
    found = judged(given, given["cases"], rows, {"work": "review", **given["thresholds"]})
    (ruling,) = found.findings["rulings"]  # type: ignore[misc] (JSON)
    told: Any = ruling

    assert found.decision is DECISIONS[expected["decision"]]
    assert told["improved_tasks"] == expected["improved_tasks"]
