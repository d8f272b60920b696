"""The gate for arms that review code: one case with defects must be reviewed better, and none worse.

Every case decides. What a review costs does not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.promotion.aggregate import Aggregate
from farm.gates.promotion.decisions import ReviewDecision, ReviewTask
from farm.gates.promotion.policy import ReviewPolicy
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

METRIC = "review_weighted_f1"
ORDER = (
    Rule.MODEL_NAMED,
    Rule.BOTH_ARMS,
    Rule.LEAST_RUNS,
    Rule.EQUAL_RUNS,
    Rule.NO_EXCLUSIONS,
    Rule.VALUES_KNOWN,
    Rule.VERDICT_KNOWN,
    Rule.VERDICT_CORRECT,
    Rule.BLOCKER_RECALL_KNOWN,
    Rule.BLOCKER_RECALL,
    Rule.CLEAN_FALSE_POSITIVES,
    Rule.CLEAN_PASS,
    Rule.WEIGHTED_F1,
    Rule.SWEEP_COMPLETE,
)


@dataclass(frozen=True, slots=True)
class ReviewRuling:
    """A decision and what led to it."""

    decision: ReviewDecision
    rule: Rule
    tried: tuple[Tried, ...]
    improved: tuple[str, ...]
    """Cases with defects that gained enough."""

    @property
    def is_main_loop_only(self) -> bool:
        return False

    @property
    def told(self) -> dict[str, JsonValue]:
        """Give what the decision's record has no name for."""
        return {"improved_tasks": list(self.improved)}


def rule_on(contests: Sequence[Contest], policy: ReviewPolicy, sweep: Sweep) -> ReviewRuling:
    """Decide whether the candidate takes the incumbent's place."""
    compared = [
        _Compared(one.task, one.incumbent, one.candidate, policy)
        for one in contests
        if one.incumbent is not None and one.candidate is not None
    ]
    improved = tuple(one.task for one in compared if one.is_improved)
    tried = in_order((*on_sweep(contests, sweep), *(each for one in compared for each in one.tried())), ORDER)
    made = broken(tried) or Verdicted(Choice.PROMOTE if improved else Choice.KEEP, Rule.IMPROVED_CASE)
    reasons = tuple(one.words for one in tried if not one.is_met)
    if made == Verdicted(Choice.KEEP, Rule.IMPROVED_CASE):
        reasons = (*reasons, f"no case with defects gained {policy.min_improvement} of weighted F1")
    decision = ReviewDecision(
        incumbent_arm=sweep.incumbent,
        candidate_arm=sweep.candidate,
        metric=METRIC,
        decision=made.choice,
        model=sweep.model,
        ungated_tasks=(),
        tasks=tuple(one.record for one in compared),
        reasons=reasons,
    )
    return ReviewRuling(decision, made.rule, tried, improved)


@dataclass(frozen=True, slots=True)
class _Compared:
    """One case that both arms reviewed."""

    task: str
    incumbent: Aggregate
    candidate: Aggregate
    policy: ReviewPolicy

    @property
    def both(self) -> tuple[Aggregate, Aggregate]:
        return self.incumbent, self.candidate

    @property
    def is_clean(self) -> bool:
        """Say whether there is nothing to find."""
        return self.incumbent.review_clean_control is True

    @property
    def f1(self) -> tuple[Fraction | None, Fraction | None]:
        return exact(self.incumbent.review_weighted_f1), exact(self.candidate.review_weighted_f1)

    @property
    def is_improved(self) -> bool:
        before, after = self.f1
        if self.is_clean or None in self._needed() or before is None or after is None:
            return False
        return after >= before + Fraction(str(self.policy.min_improvement))

    def tried(self) -> Iterator[Tried]:
        """Compare what the case decides; where a value is missing, what the others say does not count."""
        yield from on_runs(self.task, self.incumbent, self.candidate, self.policy.min_runs)
        unknown = self._needed().count(None)
        yield Tried(Rule.VALUES_KNOWN, self.task, unknown, "==", 0, unknown == 0)
        if unknown:
            return
        verdict = self.candidate.review_verdict_correct
        wrong = False
        yield Tried(Rule.VERDICT_KNOWN, self.task, verdict, "!=", None, verdict is not None)
        yield Tried(Rule.VERDICT_CORRECT, self.task, verdict, "!=", wrong, verdict is not wrong)
        yield from self._recalls()
        yield from self._clean() if self.is_clean else self._defects()

    def _needed(self) -> tuple[Fraction | bool | None, ...]:
        spurious = tuple(exact(arm.review_false_positives) for arm in self.both)
        passes = tuple(arm.review_clean_pass for arm in self.both)
        return (*spurious, *passes) if self.is_clean else (*spurious, *self.f1)

    def _recalls(self) -> Iterator[Tried]:
        """Compare the worst runs; where nothing blocks there is no recall."""
        before, after = self.incumbent.review_blocker_recall, self.candidate.review_blocker_recall
        is_alike = (before is None) == (after is None)
        yield Tried(Rule.BLOCKER_RECALL_KNOWN, self.task, after, "==" if before is None else "!=", None, is_alike)
        if before is not None and after is not None:
            is_kept = Fraction(str(after)) >= Fraction(str(before))
            yield Tried(Rule.BLOCKER_RECALL, self.task, after, ">=", before, is_kept)

    def _clean(self) -> Iterator[Tried]:
        before, after = (exact(arm.review_false_positives) or Fraction(0) for arm in self.both)
        yield Tried(Rule.CLEAN_FALSE_POSITIVES, self.task, said(after), "<=", said(before), after <= before)
        passed, passes = (arm.review_clean_pass is True for arm in self.both)
        yield Tried(Rule.CLEAN_PASS, self.task, passes, ">=", passed, passes or not passed)

    def _defects(self) -> Iterator[Tried]:
        before, after = (each or Fraction(0) for each in self.f1)
        least = before - Fraction(str(self.policy.tolerance))
        yield Tried(Rule.WEIGHTED_F1, self.task, said(after), ">=", said(least), after >= least)

    @property
    def record(self) -> ReviewTask:
        return ReviewTask(
            task=self.task,
            label=self.incumbent.label,
            incumbent=self.incumbent,
            candidate=self.candidate,
            gated=True,
            incumbent_f1=self.incumbent.review_weighted_f1,
            candidate_f1=self.candidate.review_weighted_f1,
            incumbent_blocker_recall=self.incumbent.review_blocker_recall,
            candidate_blocker_recall=self.candidate.review_blocker_recall,
            incumbent_false_positives=self.incumbent.review_false_positives,
            candidate_false_positives=self.candidate.review_false_positives,
            clean_control=self.incumbent.review_clean_control,
            incumbent_clean_pass=self.incumbent.review_clean_pass,
            candidate_clean_pass=self.candidate.review_clean_pass,
        )
