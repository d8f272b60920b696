"""Aggregates and rows for tests of the promotion gate."""

from decimal import Decimal
from typing import Any

from farm.gates.promotion.aggregate import Aggregate
from farm.gates.table import Row
from farm.model import Fault, FaultKind, OracleFinding
from tests.builders.gates import At, a_row, a_session

HOST_GONE = Fault(kind=FaultKind.HOST, detail="gone")


def an_aggregate(valid: int = 3, excluded: int = 0, resolved: int = 3, **changes: Any) -> Aggregate:
    counts: dict[str, Any] = {
        "runs": valid + excluded,
        "valid_runs": valid,
        "excluded_runs": excluded,
        "resolved": resolved,
        "resolved_fresh": resolved,
        "fresh_attempts": valid + excluded,
        "admissible": valid,
        "execution_failures": excluded,
        "evidence_failures": 0,
        "health_reasons": (),
        "error_kinds": {},
        "cost_usd": 1.0,
    }
    return Aggregate(**{**counts, **changes})


def an_implementation(at: At, *, cost: str | None = "1.00", resolved: bool = True, **changes: Any) -> Row:
    """Make a run that changed code, right or wrong, at a cost."""
    spent = None if cost is None else Decimal(cost)
    made = {"cost_usd": spent, "oracle": OracleFinding(correct=resolved), "sessions": (a_session(cost_usd=spent),)}
    return a_row(at, **{**made, **changes})


def a_review(at: At, *, clean: bool = False, f1: float | None = 0.8, **numbers: float) -> Row:
    """Make a review of a case with defects, or of a clean one, by its oracle's numbers."""
    known: dict[str, Any] = {"false_positives": 0, "verdict_correct": 1, "clean_control": int(clean)}
    known |= {"clean_pass": 1} if clean else {"clean_pass": 0, "blocker_recall": 1.0}
    if f1 is not None and not clean:
        known["weighted_f1"] = f1
    return a_row(at, oracle=OracleFinding(correct=clean, numbers={**known, **numbers}))


def an_excluded(at: At) -> Row:
    """Make a run of which there is no evidence."""
    return a_row(at, sessions=(), oracle=None, scope=None, fault=HOST_GONE)
