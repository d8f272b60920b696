"""Reading `promotion.json` strictly, and the words for why one is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue, ValidationError

from farm.gates.promotion.aggregate import Aggregate
from farm.gates.promotion.record import Promotion


class Reason(StrEnum):
    """Why a promotion is refused."""

    MALFORMED = "malformed"
    SCHEMA_VERSION = "schema-version"
    RUN_STATUS = "run-status"
    VERDICT = "verdict-not-pass"
    ARMS_MALFORMED = "candidate-arms-malformed"
    TASK_MALFORMED = "task-binding-malformed"
    NO_ZONE = "timestamp-without-zone"
    GATED_FLAG = "gated-flag-not-boolean"
    COUNT_MALFORMED = "count-malformed"
    METRIC_MALFORMED = "metric-malformed"
    REVIEW_FLAG = "review-flag-not-boolean"

    MODEL = "model-differs"
    PROPOSER = "proposer-model-differs"
    EFFORT = "effort-differs"
    ORIGIN = "candidate-origin-differs"
    OVERLAY = "overlay-digest-differs"
    ARMS = "candidate-arms-differ"
    TASKS = "tasks-differ"
    TARGETS = "target-bases-differ"
    POLICY = "policy-differs"

    FUTURE = "generated-in-the-future"
    EXPIRY_EARLY = "expiry-not-after-generation"
    EXPIRY_LATE = "expiry-beyond-90-days"
    EXPIRED = "evidence-expired"

    DECISION_MISSING = "decision-missing"
    DECISION_UNRELATED = "decision-unrelated"
    DECISION_DUPLICATE = "decision-duplicate"
    DECISION_ORDER = "decision-order"
    DECISION_INCUMBENT = "decision-incumbent"
    NOT_PROMOTE = "decision-not-promote"
    DECISION_METRIC = "decision-metric"
    EVIDENCE_TASKS = "evidence-tasks"
    UNGATED_LIST = "ungated-list-differs"
    FEW_GATED = "too-few-gated-tasks"
    REVIEW_UNGATED = "review-ungated-task"
    RUNS = "runs-do-not-add-up"
    RESOLVED = "resolved-exceeds-valid"
    RATIO = "ratio-above-one"
    CLEAN_FLAG = "clean-flag-differs"
    RECOMPUTED = "recomputed-decision-differs"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that stands against applying it."""

    reason: Reason
    message: str


def read_promotion(document: JsonValue) -> Promotion | tuple[Problem, ...]:
    """Read a record strictly; what is malformed is told field by field."""
    try:
        return Promotion.model_validate(document)
    except ValidationError as error:
        return tuple(
            Problem(_malformed(one["loc"]), f"{'.'.join(map(str, one['loc']))}: {one['msg']}")
            for one in error.errors(include_url=False)
        )


Loc = tuple[int | str, ...]
_FLAGS = frozenset({"review_verdict_correct", "review_clean_control", "review_clean_pass", "clean_control"})
_COUNTS = frozenset(
    {
        "runs",
        "valid_runs",
        "excluded_runs",
        "resolved",
        "resolved_fresh",
        "fresh_attempts",
        "admissible",
        "execution_failures",
        "evidence_failures",
        "transcripts_missing",
        "error_kinds",
        "incumbent_excluded",
        "candidate_excluded",
    }
)
_BY_FIELD: Mapping[str, Reason] = {
    "schema_version": Reason.SCHEMA_VERSION,
    "run_status": Reason.RUN_STATUS,
    "required_candidate_arms": Reason.ARMS_MALFORMED,
    "selected_tasks": Reason.TASK_MALFORMED,
    "generated_at": Reason.NO_ZONE,
    "evidence_expires_at": Reason.NO_ZONE,
}
_MEASURES = frozenset(Aggregate.model_fields) - _COUNTS - _FLAGS | {"incumbent_metric", "candidate_metric"}


def _malformed(loc: Loc) -> Reason:
    if loc and loc[0] in _BY_FIELD:
        return _BY_FIELD[str(loc[0])]
    names = {str(part) for part in loc}
    if "gated" in names:
        return Reason.GATED_FLAG
    if names & _FLAGS or any(name.endswith("_clean_pass") for name in names):
        return Reason.REVIEW_FLAG
    if names & _COUNTS:
        return Reason.COUNT_MALFORMED
    return Reason.METRIC_MALFORMED if names & _MEASURES else Reason.MALFORMED
