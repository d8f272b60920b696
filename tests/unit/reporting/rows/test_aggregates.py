"""Rows of one task under one arm, put together."""

from decimal import Decimal
from typing import Any

import pytest

from farm.model import (
    Cell,
    Churn,
    Digest,
    Evidence,
    Fault,
    FaultKind,
    OracleFinding,
    OracleSpec,
    Origin,
    Plan,
    ScopeFinding,
    SweepId,
    Usage,
)
from tests.builders.exported import aggregated
from tests.builders.gates import OFF, a_plan, a_session
from tests.builders.sealed import OPENED


def the_plan(trials: int, oracle: str = "command") -> Plan:
    plan = a_plan(("fix",), trials)
    task = plan.tasks[0].model_copy(update={"label": "cross-module", "oracle": OracleSpec(kind=oracle)})
    return plan.model_copy(update={"tasks": (task,), "cells": tuple(cell for cell in plan.cells if cell.arm == OFF)})


def evidence(plan: Plan, tokens: int | None = 100, cost: str | None = "0.10", **changes: Any) -> Evidence:
    session = a_session(
        usage=Usage(input_tokens=tokens, output_tokens=7), cost_usd=None if cost is None else Decimal(cost), turns=3
    )
    made = Evidence(
        lock=plan.lock(plan.cells[0]),
        sandbox={},
        workspace_before=Digest.of(b"before"),
        workspace_after=Digest.of(b"after"),
        sessions=(session,),
        oracle=OracleFinding(correct=True),
        scope=ScopeFinding(),
        churn=Churn(files=2, added_lines=10, removed_lines=3, binary_files=0),
    )
    return made.model_copy(update=changes)


def put_together(plan: Plan, *changes: dict[str, Any]) -> Any:
    attempts: dict[Cell, dict[str, Any]] = dict(zip(plan.cells, changes, strict=False))
    (one,) = aggregated(plan, attempts)
    return one


def test_runs_are_valid_or_excluded_and_the_valid_ones_make_the_medians() -> None:
    plan = the_plan(4)
    wrong = OracleFinding(correct=False)
    fault = Fault(kind=FaultKind.TASK, detail="setup failed")

    found = put_together(
        plan,
        {"evidence": evidence(plan, 100, "0.10")},
        {"evidence": evidence(plan, 301, "0.30", oracle=wrong)},
        {"evidence": None, "fault": fault},
    )

    assert (found["task"], found["class"], found["arm"]) == ("fix", "cross-module", OFF)
    assert (found["runs"], found["valid_runs"], found["excluded_runs"], found["resolved"]) == (4, 2, 2, 1)
    assert found["error_kinds"] == {"cancelled": 1, "infra-error": 1, "oracle-failed": 1}
    assert (found["input_tokens"], found["cost_usd"], found["diff_insertions"]) == (200.5, 0.2, 10)


def test_36_one_valid_run_of_unknown_cost_makes_the_arms_cost_unknown() -> None:
    plan = the_plan(2)

    found = put_together(plan, {"evidence": evidence(plan)}, {"evidence": evidence(plan, cost=None)})

    assert (found["cost_usd"], found["input_tokens"]) == (None, 100)


def test_50_health_is_over_rows_that_were_measured_now() -> None:
    plan = the_plan(3)
    origin = Origin(sweep=SweepId("old-000000000000.1"), attempt=1, outcome=Digest.of(b"old"), measured_at=OPENED)
    broken = Fault(kind=FaultKind.EVIDENCE, detail="plan-evidence-invalid: session 'plan' changed a.py")

    found = put_together(
        plan,
        {"evidence": evidence(plan), "origin": origin},
        {"evidence": None, "fault": broken},
        {"evidence": evidence(plan)},
    )

    assert (found["fresh_attempts"], found["admissible"], found["evidence_failures"]) == (2, 1, 1)
    assert (found["resolved"], found["resolved_fresh"]) == (2, 1)
    assert (found["execution_failures"], found["health_reasons"]) == (0, ["plan-evidence-invalid"])


@pytest.mark.parametrize(
    ("second", "f1", "least", "right"),
    [({"weighted_f1": 0.5, "blocker_recall": 0.25, "verdict_correct": 0}, 0.75, 0.25, False), ({}, None, None, None)],
)
def test_a_reviews_number_is_there_when_every_valid_row_has_it(
    second: dict[str, Any], f1: float | None, least: float | None, *, right: bool | None
) -> None:
    plan = the_plan(2, "review")
    first: dict[str, Any] = {"weighted_f1": 1.0, "blocker_recall": 1.0, "verdict_correct": 1}

    found = put_together(
        plan,
        *(
            {"evidence": evidence(plan, oracle=OracleFinding(correct=False, numbers=numbers))}
            for numbers in (first, {"true_positives": 1, **second})
        ),
    )

    assert (found["review_weighted_f1"], found["review_blocker_recall"]) == (f1, least)
    assert found["review_verdict_correct"] is right


def test_of_no_valid_row_nothing_is_known() -> None:
    found = put_together(the_plan(1, "review"))

    names = ("cost_usd", "input_tokens", "num_turns", "diff_files", "review_weighted_f1", "review_verdict_correct")
    assert {found[name] for name in names} == {None}
