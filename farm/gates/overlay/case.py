"""One case: a task's planned samples of both arms, and what the contract says of them."""

from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import median, number
from farm.gates.overlay.comparison import Bar, Status, Values, efficacy, mean_or_zero, reduction, status_of
from farm.gates.overlay.policy import CasePolicy, Rules
from farm.gates.overlay.sample import Sample
from farm.gates.table import Lifecycle
from farm.model import Check, Metric


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged: one task under the ON and the OFF arm."""

    task: str
    policy: CasePolicy
    metric: Metric
    planned: int
    """Samples of each arm."""
    on: tuple[Sample, ...]
    off: tuple[Sample, ...]

    @property
    def values(self) -> Values:
        return Values(on=_values(self.on), off=_values(self.off))


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """What the contract says of a case; validity, correctness, efficacy and lifecycle stay apart."""

    case: Case
    status: Status
    measurements_valid: bool
    on_correctness_passed: bool
    efficacy: Bar
    gate: Bar | None
    """None: the case declares no blocking comparison."""
    gate_passed: bool | None
    passed: bool
    checks: tuple[Check, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        return tuple(check.name for check in self.checks if check.decides and check.holds is not True)


def _values(samples: tuple[Sample, ...]) -> tuple[Fraction, ...]:
    return tuple(sample.value for sample in samples if sample.value is not None)


def judge_case(case: Case, rules: Rules, lifecycle: Lifecycle) -> CaseFinding:
    """Apply the contract to one case."""
    values = case.values
    status = _status(case, values, rules)
    complete = len(case.on) == len(case.off) == case.planned and len(values.on) == len(values.off) == case.planned
    valid = complete and status is not Status.INCOMPLETE
    correct = valid and all(sample.is_correct for sample in case.on)
    gate = None if case.policy.gate is None else reduction(values, rules)
    gate_passed = None if gate is None else valid and gate.holds
    clean = not any(sample.row.cleanup_problem for sample in case.on + case.off)
    lived = clean and not (lifecycle.timed_out or lifecycle.cleanup_incomplete or lifecycle.errors)
    bar = efficacy(values, case.metric.direction, case.policy.comparator, rules)
    return CaseFinding(
        case=case,
        status=status,
        measurements_valid=valid,
        on_correctness_passed=correct,
        efficacy=bar,
        gate=gate,
        gate_passed=gate_passed,
        passed=correct and gate_passed is not False and status is not Status.UNSUPPORTED and lived,
        checks=_checks(case, status, gate, bar),
    )


def _status(case: Case, values: Values, rules: Rules) -> Status:
    if case.policy.unsupported_hypothesis is not None and not case.on and not case.off:
        return Status.UNSUPPORTED  # such a case buys no sample
    return status_of(values, case.planned, case.metric, case.policy, rules)


def _checks(case: Case, status: Status, gate: Bar | None, bar: Bar) -> tuple[Check, ...]:
    known = status is not Status.INCOMPLETE and bool(case.on)
    checks = [_valid_check(case, "on", case.on), _valid_check(case, "off", case.off), _correct_check(case)]
    if case.policy.unsupported_hypothesis is not None:
        checks.append(_hypothesis_check(case.task, case.policy.unsupported_hypothesis))
    if gate is not None:
        checks.append(_bar_check("reduction", case.task, gate, known=known))
    checks.append(_cleanup_check(case))
    research = _bar_check("efficacy", case.task, bar, known=known)
    holds = research.holds and status is Status.IMPROVED
    note = "; ".join(part for part in (str(status), research.note, "research only") if part)
    checks.append(research.model_copy(update={"decides": False, "holds": holds, "note": note}))
    return tuple(checks)


def _valid_check(case: Case, arm: str, samples: tuple[Sample, ...]) -> Check:
    valid = sum(sample.is_valid for sample in samples)
    bad = next((sample for sample in samples if not sample.is_valid), None)
    return Check(
        name=f"valid-measurements-{arm}",
        subject=case.task,
        operator="==",
        threshold=case.planned,
        observed=valid,
        holds=valid == len(samples) == case.planned,
        note="" if bad is None else f"{bad.row.cell}: {bad.problem}",
    )


def _correct_check(case: Case) -> Check:
    right = sum(sample.is_correct for sample in case.on)
    wrong = next((sample for sample in case.on if sample.is_valid and not sample.is_correct), None)
    return Check(
        name="correct-on",
        subject=case.task,
        operator="==",
        threshold=case.planned,
        observed=right,
        holds=right == len(case.on) == case.planned,
        note="" if wrong is None else f"{wrong.row.cell}: {answer_error(wrong) or 'wrong answer'}",
    )


def _hypothesis_check(task: str, why: str) -> Check:
    return Check(
        name="hypothesis-supported", subject=task, operator="==", threshold=True, observed=False, holds=False, note=why
    )


def _cleanup_check(case: Case) -> Check:
    left = [sample.row for sample in case.on + case.off if sample.row.cleanup_problem is not None]
    return Check(
        name="workspaces-left",
        subject=case.task,
        operator="==",
        threshold=0,
        observed=len(left),
        holds=not left,
        note=f"{left[0].cell}: {left[0].cleanup_problem}" if left else "",
    )


def _bar_check(name: str, task: str, bar: Bar, *, known: bool) -> Check:
    return Check(
        name=name,
        subject=task,
        operator=bar.operator,
        threshold=number(bar.threshold) if known else None,
        observed=number(bar.observed) if known else None,
        holds=bar.holds if known else None,
        note=bar.note if known else "the samples are incomplete",
    )


def answer_error(sample: Sample) -> str | None:
    """Give the oracle's own message about a wrong answer."""
    return None if sample.row.oracle is None else sample.row.oracle.answer_error


def finding_record(finding: CaseFinding) -> dict[str, JsonValue]:
    """Lay a finding out for the verdict's record."""
    case, values = finding.case, finding.case.values
    middle = median(values.off)
    return {
        "status": finding.status.value,
        "criterion_met": finding.status is Status.IMPROVED,
        "explanation": case.policy.unsupported_hypothesis,
        "metric": case.metric.name,
        "planned": case.planned,
        "mean_on": number(mean_or_zero(values.on)),
        "mean_off": number(mean_or_zero(values.off)),
        "median_off": None if middle is None else number(middle),
        "valid_on": len(values.on),
        "valid_off": len(values.off),
        "measurements_valid": finding.measurements_valid,
        "on_correctness_passed": finding.on_correctness_passed,
        "gate_passed": finding.gate_passed,
        "passed": finding.passed,
        "reason": "pass" if finding.passed else f"fail: {', '.join(finding.failures) or 'lifecycle'}",
        "samples": [_sample_record(sample) for sample in case.on + case.off],
    }


def _sample_record(sample: Sample) -> dict[str, JsonValue]:
    return {
        "cell": sample.row.cell,
        "measurement_passed": sample.is_valid,
        "task_correct": sample.is_correct,
        "metric": None if sample.value is None else number(sample.value),
        "exit_reason": str(sample.exit_reason),
        "problem": sample.problem,
        "answer_error": answer_error(sample),
    }
