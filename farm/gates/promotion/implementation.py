"""The gate for arms that write code: nobody may lose a resolved run, and the candidate must be ahead or cheaper."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import median
from farm.gates.promotion.aggregate import Aggregate
from farm.gates.promotion.decisions import ImplementationDecision, ImplementationTask
from farm.gates.promotion.policy import ImplementationPolicy
from farm.gates.promotion.ruling import (
    Choice,
    Contest,
    Rule,
    Sweep,
    Tried,
    Verdicted,
    broken,
    exact,
    in_order,
    on_runs,
    on_sweep,
    said,
)

ORDER = (
    Rule.MODEL_NAMED,
    Rule.BOTH_ARMS,
    Rule.UNGATED_REGRESSION,
    Rule.LEAST_RUNS,
    Rule.NO_EXCLUSIONS,
    Rule.EQUAL_RUNS,
    Rule.METRIC_MEASURED,
    Rule.INCUMBENT_METRIC,
    Rule.RESOLUTION,
    Rule.QUALITY_FLOOR,
    Rule.TASK_REGRESSION,
    Rule.TASK_ROWS,
    Rule.GATED_TASKS,
    Rule.GATED_SHARE,
    Rule.SWEEP_COMPLETE,
)


@dataclass(frozen=True, slots=True)
class ImplementationRuling:
    """A decision and what led to it."""

    decision: ImplementationDecision
    rule: Rule
    tried: tuple[Tried, ...]
    margin: int
    """Resolved runs that the candidate is ahead by."""

    @property
    def is_noise(self) -> bool:
        """Say whether it came to the margin, and that was too small to decide."""
        return self.rule in {Rule.MEDIAN, Rule.IMPROVEMENT} and self.margin > 0

    @property
    def is_main_loop_only(self) -> bool:
        return self.decision.metric_warning

    @property
    def told(self) -> dict[str, JsonValue]:
        """Give what the decision's record has no name for."""
        return {"resolution_margin": self.margin, "margin_is_noise": self.is_noise}


def rule_on(contests: Sequence[Contest], policy: ImplementationPolicy, sweep: Sweep) -> ImplementationRuling:
    """Decide whether the candidate takes the incumbent's place."""
    compared = [
        _Compared(one.task, one.incumbent, one.candidate, policy)
        for one in contests
        if one.incumbent is not None and one.candidate is not None
    ]
    gated = [one for one in compared if one.is_gated]
    middle = median([one.improvement for one in gated if one.improvement is not None])
    margin = sum(one.candidate.resolved - one.incumbent.resolved for one in compared)
    tried = in_order((*on_sweep(contests, sweep), *_of_tasks(compared), *_of_share(compared, policy)), ORDER)
    made = broken(tried) or _chosen(margin, middle, policy)
    decision = ImplementationDecision(
        incumbent_arm=sweep.incumbent,
        candidate_arm=sweep.candidate,
        metric=policy.metric,
        decision=made.choice,
        metric_warning=policy.metric.is_main_loop_only,
        median_improvement_pct=said(middle),
        gated_tasks=tuple(one.task for one in gated),
        ungated_tasks=tuple(one.task for one in compared if not one.is_gated),
        tasks=tuple(one.record for one in compared),
    )
    ruling = ImplementationRuling(decision, made.rule, tried, margin)
    reasons = tuple(_reasons(ruling, policy))
    return ImplementationRuling(decision.model_copy(update={"reasons": reasons}), made.rule, tried, margin)


@dataclass(frozen=True, slots=True)
class _Compared:
    """One task that both arms ran."""

    task: str
    incumbent: Aggregate
    candidate: Aggregate
    policy: ImplementationPolicy

    @property
    def both(self) -> tuple[Aggregate, Aggregate]:
        return self.incumbent, self.candidate

    @property
    def improvement(self) -> Fraction | None:
        """Give the saving in percent of what the incumbent spends."""
        before, after = self._metric(self.incumbent), self._metric(self.candidate)
        return None if not before or after is None else 100 * (before - after) / before

    @property
    def is_skill_attributable(self) -> bool:
        return any(arm.skill_not_invoked for arm in self.both)

    @property
    def is_gated(self) -> bool:
        """Say whether the task decides: a fully measured one that neither arm resolves only must not cost much more."""
        is_measured = all(arm.valid_runs >= self.policy.min_runs and not arm.excluded_runs for arm in self.both)
        is_unresolved = not any(arm.resolved for arm in self.both)
        is_fair = is_measured and self.incumbent.valid_runs == self.candidate.valid_runs
        return not (is_fair and is_unresolved and not self.is_skill_attributable and self.improvement is not None)

    @property
    def has_floor(self) -> bool:
        """Say whether the candidate must resolve every run; where the incumbent never does, some progress is none."""
        return self.incumbent.resolved > 0 or self.is_skill_attributable

    @property
    def keeps_floor(self) -> bool:
        return self.candidate.resolved == self.candidate.valid_runs

    def tried(self) -> Iterator[Tried]:
        """Compare what the task decides."""
        if not self.is_gated:
            yield self._regression(Rule.UNGATED_REGRESSION, exact(self.policy.max_ungated_regression_pct))
            return
        yield from on_runs(self.task, self.incumbent, self.candidate, self.policy.min_runs)
        yield from self._metrics()
        before, after = _rate(self.incumbent), _rate(self.candidate)
        yield Tried(Rule.RESOLUTION, self.task, said(after), ">=", said(before), after >= before)
        if self.has_floor:
            resolved, all_of = self.candidate.resolved, self.candidate.valid_runs
            yield Tried(Rule.QUALITY_FLOOR, self.task, resolved, "==", all_of, self.keeps_floor)
        yield self._regression(Rule.TASK_REGRESSION, exact(self.policy.max_task_regression_pct))

    def _metrics(self) -> Iterator[Tried]:
        values = [self._metric(arm) for arm in self.both]
        unknown = values.count(None)
        yield Tried(Rule.METRIC_MEASURED, self.task, unknown, "==", 0, unknown == 0)
        yield Tried(Rule.INCUMBENT_METRIC, self.task, said(values[0]), "!=", 0, values[0] != 0)

    def _regression(self, rule: Rule, most: Fraction | None) -> Tried:
        floor, found = -(most or Fraction(0)), self.improvement
        return Tried(rule, self.task, said(found), ">=", said(floor), found is None or found >= floor)

    def _metric(self, arm: Aggregate) -> Fraction | None:
        return exact(getattr(arm, self.policy.metric))

    @property
    def record(self) -> ImplementationTask:
        return ImplementationTask(
            task=self.task,
            label=self.incumbent.label,
            incumbent=self.incumbent,
            candidate=self.candidate,
            gated=self.is_gated,
            incumbent_resolved=f"{self.incumbent.resolved}/{self.incumbent.valid_runs}",
            candidate_resolved=f"{self.candidate.resolved}/{self.candidate.valid_runs}",
            incumbent_excluded=self.incumbent.excluded_runs,
            candidate_excluded=self.candidate.excluded_runs,
            quality_floor_enforced=self.has_floor,
            quality_floor_met=self.keeps_floor,
            incumbent_metric=said(self._metric(self.incumbent)),
            candidate_metric=said(self._metric(self.candidate)),
            improvement_pct=said(self.improvement),
            skill_attributable_failure=self.is_skill_attributable,
        )


def _rate(arm: Aggregate) -> Fraction:
    return Fraction(arm.resolved, arm.valid_runs) if arm.valid_runs else Fraction(0)


def _of_tasks(compared: Sequence[_Compared]) -> Iterator[Tried]:
    for one in compared:
        yield from one.tried()


def _of_share(compared: Sequence[_Compared], policy: ImplementationPolicy) -> Iterator[Tried]:
    tasks, gated = len(compared), sum(one.is_gated for one in compared)
    yield Tried(Rule.TASK_ROWS, None, tasks, ">=", 1, tasks > 0)
    if tasks:
        yield Tried(Rule.GATED_TASKS, None, gated, ">=", 1, gated > 0)
    if gated:
        share, least = Fraction(gated, tasks), Fraction(policy.least_gated_share)
        yield Tried(Rule.GATED_SHARE, None, said(share), ">=", said(least), share >= least)


def _chosen(margin: int, middle: Fraction | None, policy: ImplementationPolicy) -> Verdicted:
    if margin >= policy.least_margin:
        return Verdicted(Choice.PROMOTE, Rule.MARGIN)
    if middle is not None and middle >= Fraction(str(policy.min_improvement_pct)):
        return Verdicted(Choice.PROMOTE, Rule.MEDIAN)
    return Verdicted(Choice.KEEP, Rule.IMPROVEMENT)


def _reasons(ruling: ImplementationRuling, policy: ImplementationPolicy) -> Iterator[str]:
    yield from (one.words for one in ruling.tried if not one.is_met)
    if ruling.is_noise:
        yield f"a lead of {ruling.margin} resolved run is noise: the median decides"
    if ruling.rule is Rule.IMPROVEMENT:
        median_pct = ruling.decision.median_improvement_pct
        yield f"the median improvement of {median_pct} % is below {policy.min_improvement_pct} %"
    if ruling.decision.metric_warning:
        yield f"{policy.metric} may lack what sub-agents spend: only the cost is sure to hold it"
    if ruling.decision.ungated_tasks:
        yield f"resolved by neither arm, and not gated: {', '.join(ruling.decision.ungated_tasks)}"
