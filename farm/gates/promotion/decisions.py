"""Decisions as `promotion.json` holds them, each task's numbers included: they can be made again from these alone."""

from pydantic import ConfigDict, Field, StrictBool, StrictStr

from farm.gates.promotion.aggregate import Aggregate, Count, Measure
from farm.gates.promotion.ruling import Choice
from farm.model import Number
from farm.model.base import Value


class ImplementationTask(Value):
    """One task under both arms."""

    model_config = ConfigDict(populate_by_name=True)

    task: StrictStr
    label: str | None = Field(alias="class")
    incumbent: Aggregate
    candidate: Aggregate
    gated: StrictBool
    incumbent_resolved: StrictStr
    """`2/3`: of the valid."""
    candidate_resolved: StrictStr
    incumbent_excluded: Count
    candidate_excluded: Count
    quality_floor_enforced: StrictBool
    quality_floor_met: StrictBool
    incumbent_metric: Measure
    candidate_metric: Measure
    improvement_pct: Number | None
    """None: a metric is unknown, or the incumbent's is zero."""
    skill_attributable_failure: StrictBool


class ImplementationDecision(Value):
    """One candidate that writes code."""

    incumbent_arm: StrictStr
    candidate_arm: StrictStr
    metric: StrictStr
    decision: Choice
    metric_warning: StrictBool
    """What sub-agents spend may be missing in the metric."""
    median_improvement_pct: Number | None
    gated_tasks: tuple[str, ...]
    ungated_tasks: tuple[str, ...]
    tasks: tuple[ImplementationTask, ...]
    reasons: tuple[str, ...] = ()


class ReviewTask(Value):
    """One case under both arms."""

    model_config = ConfigDict(populate_by_name=True)

    task: StrictStr
    label: str | None = Field(alias="class")
    incumbent: Aggregate
    candidate: Aggregate
    gated: StrictBool
    incumbent_f1: Measure
    candidate_f1: Measure
    incumbent_blocker_recall: Measure
    candidate_blocker_recall: Measure
    incumbent_false_positives: Measure
    candidate_false_positives: Measure
    clean_control: StrictBool | None
    """The incumbent's."""
    incumbent_clean_pass: StrictBool | None
    candidate_clean_pass: StrictBool | None


class ReviewDecision(Value):
    """One candidate that reviews code."""

    incumbent_arm: StrictStr
    candidate_arm: StrictStr
    metric: StrictStr
    decision: Choice
    model: str | None
    ungated_tasks: tuple[str, ...]
    tasks: tuple[ReviewTask, ...]
    reasons: tuple[str, ...] = ()
