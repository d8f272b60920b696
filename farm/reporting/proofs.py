"""What the proofs of tasks came to: with nothing done wrong, with the reference right, each time the same.

The cells are those of `farm.planning.proofs`: the first arm of a proof does nothing, any other lays a reference.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from farm.model import ActionClass, ExitKind, Outcome, ProcessExit, SessionReport, Task
from farm.reporting.text import one_line

_MOST_PATHS = 5


@dataclass(frozen=True, slots=True)
class Times:
    """How long the slowest of a task's cells took, in seconds; None: no cell came so far."""

    cell_s: float | None
    verify_s: float | None
    oracle_s: float | None


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known of one task."""

    task: str
    nothing: tuple[str, ...]
    """What the oracle said with nothing done: right, wrong, not completed; or which fault there was. Each time."""
    reference: tuple[str, ...]
    """The same with the reference; () without one."""
    times: Times
    problems: tuple[str, ...]
    """What a person must change; () for a task that is proven."""
    output: str = ""
    """The last lines of a hidden check that did not call the reference right."""


def proof_of(task: Task, nothing: Sequence[Outcome], reference: Sequence[Outcome]) -> Proof:
    """Judge a task by its cells' outcomes."""
    problems = [*_nothing_problems(task, nothing), *_reference_problems(reference)]
    if not reference and task.solvable:
        problems.append("it has no reference, so nothing shows that it can be solved; add `reference:`")
    return Proof(
        task=task.id,
        nothing=tuple(_said(outcome) for outcome in nothing),
        reference=tuple(_said(outcome) for outcome in reference),
        times=_times([*nothing, *reference]),
        problems=tuple(dict.fromkeys(problems)),
    )


def _nothing_problems(task: Task, outcomes: Sequence[Outcome]) -> Iterator[str]:
    may_be_right = task.solvable and task.action is ActionClass.READ_ONLY  # what must not be touched is right untouched
    for outcome in outcomes:
        yield from _troubles(outcome, "with nothing done")
        if outcome.evidence is not None and outcome.evidence.oracle.correct is True and not may_be_right:
            yield "the oracle says right when nothing was done; it must look at what the prompt asks for"
    yield from _flaky(outcomes, "with nothing done")


def _reference_problems(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        yield from _troubles(outcome, "with the reference")
        evidence = outcome.evidence
        if evidence is None:
            continue
        if evidence.oracle.correct is False:
            why = evidence.oracle.answer_error
            yield "the oracle says wrong of the reference" + (f": {one_line(why)}" if why else "")
        if evidence.verify is not None and not evidence.verify.exit.is_zero:
            yield f"the visible verify {_ended(evidence.verify.exit)} with the reference"
        if evidence.scope.before_oracle:
            yield f"the reference is outside allowed_changes: {_some(evidence.scope.before_oracle)}"
    yield from _flaky(outcomes, "with the reference")


def _troubles(outcome: Outcome, when: str) -> Iterator[str]:
    """Say what is wrong whatever the oracle says."""
    if outcome.fault is not None:
        yield f"{when} the cell failed ({outcome.fault.kind}): {one_line(outcome.fault.detail)}"
    if outcome.evidence is None:
        return
    evidence = outcome.evidence
    yield from (f"{when} {why}" for session in evidence.sessions if (why := _session_problem(session)) is not None)
    if evidence.oracle.correct is None:
        yield f"{when} the oracle could not be completed: {one_line(evidence.oracle.problem or 'it does not say why')}"
    before, after = evidence.scope.before_oracle, evidence.scope.after_oracle
    if after != before:
        yield f"{when} the oracle itself changes the workspace: {_some([path for path in after if path not in before])}"


def _session_problem(session: SessionReport) -> str | None:
    return None if session.problem is None else f"the session {session.name} failed: {one_line(session.problem)}"


def _flaky(outcomes: Sequence[Outcome], when: str) -> Iterator[str]:
    said = [_said(outcome) for outcome in outcomes]
    if len(set(said)) > 1:
        yield f"the oracle is flaky: {when} it said {', then '.join(said)}"
    verified = [_ended(run.exit) for one in outcomes if one.evidence is not None and (run := one.evidence.verify)]
    if len(set(verified)) > 1:
        yield f"the visible verify is flaky: {when} it {', then '.join(verified)}"


def _said(outcome: Outcome) -> str:
    if outcome.evidence is None:
        return f"fault {outcome.fault.kind}" if outcome.fault is not None else "nothing"
    match outcome.evidence.oracle.correct:
        case None:
            return "not completed"
        case correct:
            return "right" if correct else "wrong"


def _ended(exit_: ProcessExit) -> str:
    match exit_.kind:
        case ExitKind.EXITED:
            return f"ended with code {exit_.code}"
        case ExitKind.LIMIT:
            return f"reached its {exit_.limit} limit"
        case ExitKind.SIGNALED | ExitKind.STOPPED:
            return f"was ended by signal {exit_.signal}"


def _some(paths: Sequence[str]) -> str:
    rest = len(paths) - _MOST_PATHS
    return one_line(", ".join(paths[:_MOST_PATHS])) + (f" and {rest} more" if rest > 0 else "")


def _times(outcomes: Sequence[Outcome]) -> Times:
    known = [outcome.evidence for outcome in outcomes if outcome.evidence is not None]
    return Times(
        cell_s=_most((outcome.ended_at - outcome.started_at).total_seconds() for outcome in outcomes),
        verify_s=_most(one.verify.exit.wall_s for one in known if one.verify is not None),
        oracle_s=_most(one.oracle.exit.wall_s for one in known if one.oracle.exit is not None),
    )


def _most(seconds: Iterable[float]) -> float | None:
    return max(seconds, default=None)
