"""What a promotion gate asks of two arms, and how the answers make a decision. Nothing is skipped after a failure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import number
from farm.gates.promotion.aggregate import Aggregate
from farm.model import CloseReason, Number


class Choice(StrEnum):
    """What becomes of a candidate."""

    PROMOTE = "promote"
    KEEP = "keep_incumbent"
    INSUFFICIENT = "insufficient_evidence"


class Rule(StrEnum):
    """One question; it is met or broken. Those that nothing has to meet say only why the incumbent stays."""

    MODEL_NAMED = "model-named"
    BOTH_ARMS = "both-arms"
    LEAST_RUNS = "least-runs"
    NO_EXCLUSIONS = "no-exclusions"
    EQUAL_RUNS = "equal-runs"
    SWEEP_COMPLETE = "sweep-complete"

    METRIC_MEASURED = "metric-measured"
    INCUMBENT_METRIC = "incumbent-metric"
    UNGATED_REGRESSION = "ungated-regression"
    RESOLUTION = "resolution"
    QUALITY_FLOOR = "quality-floor"
    TASK_REGRESSION = "task-regression"
    TASK_ROWS = "task-rows"
    GATED_TASKS = "gated-tasks"
    GATED_SHARE = "gated-share"
    MARGIN = "margin"
    MEDIAN = "median"

    VALUES_KNOWN = "values-known"
    VERDICT_KNOWN = "verdict-known"
    VERDICT_CORRECT = "verdict-correct"
    BLOCKER_RECALL_KNOWN = "blocker-recall-known"
    BLOCKER_RECALL = "blocker-recall"
    CLEAN_FALSE_POSITIVES = "clean-false-positives"
    CLEAN_PASS = "clean-pass"  # noqa: S105 (a rule, not a password)
    WEIGHTED_F1 = "weighted-f1"
    IMPROVED_CASE = "improved-case"

    IMPROVEMENT = "improvement"
    """An implementation's margin or its median."""


EVIDENCE = frozenset(
    {
        Rule.MODEL_NAMED,
        Rule.BOTH_ARMS,
        Rule.LEAST_RUNS,
        Rule.NO_EXCLUSIONS,
        Rule.EQUAL_RUNS,
        Rule.SWEEP_COMPLETE,
        Rule.METRIC_MEASURED,
        Rule.INCUMBENT_METRIC,
        Rule.TASK_ROWS,
        Rule.GATED_TASKS,
        Rule.GATED_SHARE,
        Rule.VALUES_KNOWN,
        Rule.VERDICT_KNOWN,
        Rule.BLOCKER_RECALL_KNOWN,
    }
)
"""Rules without which nothing can be decided."""


@dataclass(frozen=True, slots=True)
class Contest:
    """One task under both arms; an arm that did not run it has None."""

    task: str
    incumbent: Aggregate | None
    candidate: Aggregate | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """What holds for all tasks of a pair."""

    candidate: str
    incumbent: str
    model: str | None
    """The one that both arms name."""
    close: CloseReason


@dataclass(frozen=True, slots=True)
class Tried:
    """One comparison: `observed operator threshold`."""

    rule: Rule
    task: str | None
    """None: it is asked of all tasks together."""
    observed: JsonValue
    operator: str
    threshold: JsonValue
    is_met: bool

    @property
    def words(self) -> str:
        where = "" if self.task is None else f"{self.task}: "
        return f"{where}{self.rule}: {self.observed} is not {self.operator} {self.threshold}"


@dataclass(frozen=True, slots=True)
class Verdicted:
    """A choice, and the rule that made it."""

    choice: Choice
    rule: Rule


def on_sweep(contests: Sequence[Contest], sweep: Sweep) -> Iterator[Tried]:
    """Ask whether there is something to compare."""
    yield Tried(Rule.MODEL_NAMED, None, sweep.model, "!=", None, bool(sweep.model))
    for one in contests:
        missing = (one.incumbent, one.candidate).count(None)
        yield Tried(Rule.BOTH_ARMS, one.task, missing, "==", 0, missing == 0)
    close = sweep.close
    yield Tried(Rule.SWEEP_COMPLETE, None, close, "==", CloseReason.COMPLETE, close is CloseReason.COMPLETE)


def on_runs(task: str, incumbent: Aggregate, candidate: Aggregate, least: int) -> Iterator[Tried]:
    """Ask whether both arms were measured often enough, equally often, and every time."""
    before, after = incumbent.valid_runs, candidate.valid_runs
    excluded = incumbent.excluded_runs + candidate.excluded_runs
    yield Tried(Rule.LEAST_RUNS, task, min(before, after), ">=", least, min(before, after) >= least)
    yield Tried(Rule.NO_EXCLUSIONS, task, excluded, "==", 0, excluded == 0)
    yield Tried(Rule.EQUAL_RUNS, task, after, "==", before, after == before)


def in_order(tried: Iterable[Tried], order: Sequence[Rule]) -> tuple[Tried, ...]:
    """Put comparisons in the rules' order; those of one rule stay in the tasks'."""
    return tuple(sorted(tried, key=lambda one: order.index(one.rule)))


def broken(tried: Iterable[Tried]) -> Verdicted | None:
    """Give the first broken rule: a lack of evidence goes before a loss. None: all are met."""
    lost = [one.rule for one in tried if not one.is_met]
    lacking = next((rule for rule in lost if rule in EVIDENCE), None)
    if lacking is not None:
        return Verdicted(Choice.INSUFFICIENT, lacking)
    return Verdicted(Choice.KEEP, lost[0]) if lost else None


def exact(value: Number | None) -> Fraction | None:
    """Read a number as the decimal that it is written as: 0.342 is 342/1000."""
    return None if value is None else Fraction(str(value))


def said(value: Fraction | None) -> Number | None:
    """Give it for a record, unrounded as far as a double holds it."""
    return None if value is None else number(value)
