"""The workflow benchmark's health guard, case by case; where it is blind to what breaks its boundaries, ours is not."""

import json
from pathlib import Path
from typing import Any

import pytest

from farm.gates.health import arm_health
from farm.gates.promotion.taxonomy import kind_of
from farm.gates.table import Row
from farm.model import CheckRun, ExitReason, Fault, FaultKind, OracleFinding, Unsettled
from tests.builders.gates import ON, At, a_row, a_session, an_exit

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data/health-vectors.json").read_text())
CHECKED = {"workflow", "workflow_direct", "review", "ce_review"}
"""The arms that the benchmark's guard looks at: ours looks at all."""


def excluded(kind: FaultKind, detail: str) -> dict[str, Any]:
    return {"fault": Fault(kind=kind, detail=detail), "oracle": None, "scope": None, "sessions": ()}


FACTS: dict[str, dict[str, Any]] = {
    "passed": {},
    "verify-failed": {"verify": CheckRun(exit=an_exit(code=1)), "oracle": OracleFinding(correct=False)},
    "oracle-failed": {"oracle": OracleFinding(correct=False)},
    "no-work-produced": {"oracle": OracleFinding(correct=False, answer_error="no-work-produced: nothing was changed")},
    "session-error": excluded(FaultKind.PROVIDER, "502"),
    "infra-error": excluded(FaultKind.HOST, "no disk"),
    "skill-not-invoked": {"sessions": (a_session(reason=ExitReason.SKILL_NOT_INVOKED, problem="never used"),)},
    "evidence-unverified": excluded(FaultKind.EVIDENCE, "the stream is cut"),
    "review-evidence-invalid": excluded(FaultKind.EVIDENCE, "review-evidence-invalid: not JSON"),
    "plan-evidence-invalid": excluded(FaultKind.EVIDENCE, "plan-evidence-invalid: two plans"),
    "cancelled": {"unsettled": Unsettled.STOPPED, "oracle": None, "scope": None, "sessions": ()},
}


def a_row_of(given: dict[str, Any]) -> Row:
    row = a_row(At(ON, given["run"] + 1, given["task"]), **FACTS[given["kind"] or "passed"])
    return row.model_copy(update={"reused": given.get("reused", False)})


@pytest.mark.parametrize("kind", FACTS)
def test_the_rows_of_this_file_are_of_the_kinds_that_they_say(kind: str) -> None:
    assert kind_of(a_row(At(), **FACTS[kind])) == kind


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_an_arms_status_and_its_counts(vector: dict[str, Any]) -> None:
    rows = [row for row in vector["input"]["rows"] if row["arm"] in CHECKED]
    expected = vector.get("expected_improved", vector["expected"])["arms"]
    found = {arm: arm_health([a_row_of(row) for row in rows if row["arm"] == arm]) for arm in expected}
    assert {row["arm"] for row in rows} == set(expected)
    for arm, health in found.items():
        told = expected[arm]
        assert health.status.replace("-", "_").upper() == told["status"]
        assert (health.fresh, health.admissible) == (told["fresh_attempts"], told["admissible"])
        # A row of ours fails in one way, where the benchmark's may count a broken session's artifact besides.
        assert health.execution_failures == told["execution_failures"]
        both = told["execution_failures"] + told["evidence_failures"] + told["admissible"] - told["fresh_attempts"]
        assert health.evidence_failures == told["evidence_failures"] - both
