"""One planned sample: is it a valid measurement, is its answer right, and how did it end.

Validity and correctness are apart: a completed wrong answer is a valid measurement of a wrong answer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from farm.gates.overlay.comparison import is_within
from farm.gates.overlay.ending import SampleEnd, session_end
from farm.gates.overlay.policy import CasePolicy
from farm.gates.table import Lifecycle, Row
from farm.model import ExitKind, ExitReason, FaultKind, Metric, SessionReport, Unsettled

_AFTER_THE_RUN = {FaultKind.EVIDENCE, FaultKind.ORACLE}


@dataclass(frozen=True, slots=True)
class Sample:
    """A row as the contract sees it."""

    row: Row
    exit_reason: str
    problem: str | None
    """The first rule that the measurement breaks; None: it is valid."""
    value: Fraction | None
    """The metric of a valid measurement."""
    is_correct: bool

    @property
    def is_valid(self) -> bool:
        return self.problem is None


def read_sample(row: Row, metric: Metric, case: CasePolicy, lifecycle: Lifecycle) -> Sample:
    """Assess one row."""
    problem = next(_problems(row, metric), None)
    value = None if problem is not None else _value(row, metric)
    return Sample(
        row=row,
        exit_reason=exit_reason(row, metric, lifecycle),
        problem=problem,
        value=value,
        is_correct=value is not None and _is_right(row, value, case),
    )


def _value(row: Row, metric: Metric) -> Fraction | None:
    measured = row.metrics.get(metric.name)
    return None if measured is None or measured.value is None else Fraction(measured.value)


def _is_right(row: Row, value: Fraction, case: CasePolicy) -> bool:
    answered = row.oracle is not None and row.oracle.correct is True
    return answered and (case.correct_metric is None or value == Fraction(case.correct_metric))


def _problems(row: Row, metric: Metric) -> Iterator[str]:
    """Yield the broken rules in the contract's order: execution, scope, metric, bounds, answer, scope again."""
    yield from _absences(row)
    for session in row.sessions:
        yield from _session_problems(session)
    if row.sessions and not (row.sessions[-1].final_answer or "").strip():
        yield "the final answer is missing or blank"
    if row.scope is None:
        yield "the scope was not checked"
    elif row.scope.before_oracle:
        yield f"changed outside its scope: {row.scope.before_oracle[0]}"
    yield from _metric_problems(row, metric)
    if row.oracle is None or row.oracle.correct is None or row.oracle.problem is not None:
        yield f"the oracle was not completed: {(row.oracle and row.oracle.problem) or 'no finding'}"
    if row.scope is not None and row.scope.after_oracle:
        yield f"the check of the answer changed a path outside the scope: {row.scope.after_oracle[0]}"


def _absences(row: Row) -> Iterator[str]:
    if row.unsettled is not None:
        yield f"no result: {row.unsettled}"
    if row.fault is not None:
        yield f"{row.fault.kind} fault: {row.fault.detail}"
    if not row.sessions:
        yield "no session ran to a report"


def _session_problems(session: SessionReport) -> Iterator[str]:
    if session.reason != ExitReason.SUCCESS:
        yield f"session {session.name} ended with {session.reason}" + (
            f": {session.problem}" if session.problem else ""
        )
    if session.problem is not None:
        yield f"session {session.name}: {session.problem}"
    if session.exit.kind is not ExitKind.EXITED:
        # A terminal event followed by a kill is no success: the stream's end was never seen.
        yield f"session {session.name} did not end by itself: {session.exit.limit or session.exit.kind}"


def _metric_problems(row: Row, metric: Metric) -> Iterator[str]:
    measured = row.metrics.get(metric.name)
    if measured is None or measured.value is None:
        yield f"{metric.name} was not measured: {(measured and measured.problem) or 'no value'}"
    elif measured.problem is not None:
        yield f"{metric.name}: {measured.problem}"
    elif not is_within(Fraction(measured.value), metric):
        yield f"{metric.name} is {measured.value}, outside {metric.minimum} to {metric.maximum}"


def exit_reason(row: Row, metric: Metric, lifecycle: Lifecycle) -> str:
    """Give the one word for how the sample ended: a SampleEnd, the agent's own word, or the limit it reached.

    Precedence: deadline, another stop, a native ending other than success, rate limits used up, an invalid
    measurement after a finished run, a broken run.
    """
    if row.unsettled is Unsettled.NEVER_STARTED:
        return SampleEnd.NEVER_STARTED
    ends = [session_end(session.reason) for session in row.sessions]
    if _was_stopped(row) or SampleEnd.STOPPED in ends:
        return SampleEnd.TIMEOUT if lifecycle.timed_out else SampleEnd.STOPPED
    native = next((end for end in ends if not isinstance(end, SampleEnd)), None)
    if native is not None:
        return native
    if row.fault is not None and row.fault.kind is FaultKind.RATE_LIMIT:
        return SampleEnd.RATE_LIMIT_EXHAUSTED
    if not _has_finished(row, ends):
        return SampleEnd.HARNESS_ERROR
    return SampleEnd.SUCCESS if next(_problems(row, metric), None) is None else SampleEnd.VALIDATION_FAILED


def _was_stopped(row: Row) -> bool:
    by_order = row.fault is not None and row.fault.is_open
    killed = any(session.exit.kind is ExitKind.STOPPED for session in row.sessions)
    return row.unsettled is not None or by_order or killed


def _has_finished(row: Row, ends: list[SampleEnd | str]) -> bool:
    if row.fault is not None:
        return row.fault.kind in _AFTER_THE_RUN
    return bool(ends) and SampleEnd.HARNESS_ERROR not in ends
