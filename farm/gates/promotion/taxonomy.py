"""The workflow benchmark's kinds of rows, and what each counts for: the one table between them and our faults.

The benchmark's own table has three gaps, which are closed here:

- a broken boundary of a plan or of an implementation is no wrong answer: it is excluded, and unhealthy;
- what is unusable never resets the breaker: `evidence-unverified` and `skill-not-invoked` add to it, and what was
  never measured (`cancelled`) leaves it as it is. The coordinator, who sees no rows, goes by `Outcome.is_sound`: that
  differs only where a session reached a limit, or gave an ending a name of its own, which is the arm's doing;
- every record says where it comes from: a kind is read from a settled row, whose plan, host and times always stand.

Two columns follow our own rules besides: a result is used again by the validity of its evidence and never by what it
answered, and a cancelled row, which may have no stream, is never shown to whoever proposes a change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from farm.gates.table import Row
from farm.model import ExitReason, Fault, FaultKind, OracleFinding, SessionReport, Unsettled


class RowKind(StrEnum):
    """What happened to a cell, in the benchmark's words; the first that applies."""

    PASSED = "passed"
    """The benchmark's rows have no word for it: theirs is null."""
    VERIFY_FAILED = "verify-failed"
    ORACLE_FAILED = "oracle-failed"
    ORACLE_UNAVAILABLE = "oracle-unavailable"
    """Nobody says whether the answer is right: the check could not be completed."""
    NO_WORK_PRODUCED = "no-work-produced"
    PLAN_EVIDENCE_INVALID = "plan-evidence-invalid"
    IMPLEMENTATION_EVIDENCE_INVALID = "implementation-evidence-invalid"
    SKILL_NOT_INVOKED = "skill-not-invoked"
    EVIDENCE_UNVERIFIED = "evidence-unverified"
    REVIEW_EVIDENCE_INVALID = "review-evidence-invalid"
    SESSION_ERROR = "session-error"
    INFRA_ERROR = "infra-error"
    CLEANUP_FAILURE = "cleanup-failure"
    CANCELLED = "cancelled"
    RUNTIME_CAP_EXHAUSTED = "runtime-cap-exhausted"
    """Too little of a time window was left to begin."""


class Streak(StrEnum):
    """What a row does to the run of unusable ones."""

    RESETS = "resets"
    ADDS = "adds"
    LEAVES = "leaves"


class Health(StrEnum):
    """What a row says of the measuring itself, whatever was answered."""

    OK = "ok"
    EXECUTION_FAILURE = "execution-failure"
    EVIDENCE_FAILURE = "evidence-failure"
    NOT_STARTED = "not-started"


@dataclass(frozen=True, slots=True)
class Standing:
    """What a kind counts for."""

    is_valid: bool
    """In the denominator, and in the medians of cost, time and tokens."""
    streak: Streak
    health: Health
    is_reusable: bool
    is_shown: bool
    """To whoever proposes the next change."""
    faults: frozenset[FaultKind] = frozenset()
    """Ours that are this kind; none: it is read from evidence."""


_FARM = frozenset({FaultKind.TASK, FaultKind.ORACLE, FaultKind.HOST, FaultKind.LOST, FaultKind.BUG})
_ASKED = frozenset({FaultKind.PROVIDER, FaultKind.RATE_LIMIT, FaultKind.ACCESS})
_PROOF = frozenset({FaultKind.EVIDENCE})


def _valid(*, is_reusable: bool) -> Standing:
    return Standing(is_valid=True, streak=Streak.RESETS, health=Health.OK, is_reusable=is_reusable, is_shown=True)


def _unusable(health: Health, faults: frozenset[FaultKind], *, is_shown: bool = False) -> Standing:
    return Standing(
        is_valid=False,
        streak=Streak.ADDS,
        health=health,
        is_reusable=False,
        is_shown=is_shown,
        faults=faults,
    )


STANDINGS: Mapping[RowKind, Standing] = MappingProxyType(
    {
        RowKind.PASSED: _valid(is_reusable=True),
        RowKind.VERIFY_FAILED: _valid(is_reusable=True),
        RowKind.ORACLE_FAILED: _valid(is_reusable=True),
        RowKind.ORACLE_UNAVAILABLE: _valid(is_reusable=False),
        RowKind.NO_WORK_PRODUCED: _valid(is_reusable=True),
        RowKind.PLAN_EVIDENCE_INVALID: _unusable(Health.EVIDENCE_FAILURE, _PROOF, is_shown=True),
        RowKind.IMPLEMENTATION_EVIDENCE_INVALID: _unusable(Health.EVIDENCE_FAILURE, _PROOF, is_shown=True),
        # Counted, since the gate compares how many runs both arms scored: leaving these out would hide them from it.
        RowKind.SKILL_NOT_INVOKED: Standing(
            is_valid=True,
            streak=Streak.ADDS,
            health=Health.EVIDENCE_FAILURE,
            is_reusable=False,
            is_shown=True,
        ),
        RowKind.EVIDENCE_UNVERIFIED: _unusable(Health.EVIDENCE_FAILURE, _PROOF),
        RowKind.REVIEW_EVIDENCE_INVALID: _unusable(Health.EVIDENCE_FAILURE, _PROOF, is_shown=True),
        RowKind.SESSION_ERROR: _unusable(Health.EXECUTION_FAILURE, _ASKED),
        RowKind.INFRA_ERROR: _unusable(Health.EXECUTION_FAILURE, _FARM),
        RowKind.CLEANUP_FAILURE: _unusable(Health.EXECUTION_FAILURE, frozenset()),
        RowKind.CANCELLED: Standing(
            is_valid=False,
            streak=Streak.LEAVES,
            health=Health.EXECUTION_FAILURE,
            is_reusable=False,
            is_shown=False,
            faults=frozenset({FaultKind.CANCELLED}),
        ),
        RowKind.RUNTIME_CAP_EXHAUSTED: Standing(
            is_valid=False,
            streak=Streak.LEAVES,
            health=Health.NOT_STARTED,
            is_reusable=False,
            is_shown=False,
            faults=frozenset({FaultKind.DEFERRED}),
        ),
    }
)
"""What each kind counts for. An evidence fault is the kind that its detail begins with, else unverified evidence."""

_SOUND = frozenset({ExitReason.SUCCESS, ExitReason.BLANK_ANSWER})
"""How a session ends whose work may be judged."""


def kind_of(row: Row) -> RowKind:
    """Say what kind of row a settled cell is; a clean-up that failed goes before whatever went before it."""
    if row.unsettled is not None:
        return RowKind.INFRA_ERROR if row.unsettled is Unsettled.STILL_RUNNING else RowKind.CANCELLED
    return RowKind.CLEANUP_FAILURE if row.cleanup_problem is not None else primary_kind(row)


def primary_kind(row: Row) -> RowKind:
    """Say what kind of row a cell with a result is, whatever became of its clean-up."""
    if row.fault is not None:
        return kind_of_fault(row.fault)
    sessions = (_kind_of_session(session) for session in row.sessions)
    of_session = next((kind for kind in sessions if kind is not RowKind.PASSED), None)
    if of_session is not None:
        return of_session
    if row.scope is None or row.scope.is_kept:
        return _kind_of_answer(row)
    return RowKind.IMPLEMENTATION_EVIDENCE_INVALID


def failures_of(row: Row) -> set[Health]:
    """Say in which ways the measuring itself failed: what went wrong first, and a clean-up that failed besides."""
    kinds = {kind_of(row)} if row.unsettled is not None else {kind_of(row), primary_kind(row)}
    return {STANDINGS[kind].health for kind in kinds} - {Health.OK, Health.NOT_STARTED}


def kind_of_fault(fault: Fault) -> RowKind:
    """Say what kind of row a fault makes."""
    kinds = [kind for kind, standing in STANDINGS.items() if fault.kind in standing.faults]
    named = fault.detail.partition(":")[0]
    return next((kind for kind in kinds if kind == named), kinds[0] if len(kinds) == 1 else RowKind.EVIDENCE_UNVERIFIED)


def _kind_of_session(session: SessionReport) -> RowKind:
    if session.reason in _SOUND:
        return RowKind.PASSED
    match session.reason:
        case ExitReason.SKILL_NOT_INVOKED:
            return RowKind.SKILL_NOT_INVOKED
        case ExitReason.SKILL_UNVERIFIED:
            return RowKind.EVIDENCE_UNVERIFIED
        case ExitReason.STOPPED:
            return RowKind.CANCELLED
        case _:
            return RowKind.SESSION_ERROR


def _kind_of_answer(row: Row) -> RowKind:
    """Judge what was left: a check that hangs or is killed by the answer's own code is a wrong answer."""
    if row.verify is not None and not row.verify.exit.is_zero:
        return RowKind.VERIFY_FAILED
    if row.oracle is None or row.oracle.correct is None:
        return RowKind.ORACLE_UNAVAILABLE
    if row.oracle.correct:
        return RowKind.PASSED
    return RowKind.NO_WORK_PRODUCED if _is_idle(row.oracle) else RowKind.ORACLE_FAILED


def _is_idle(oracle: OracleFinding) -> bool:
    return (oracle.answer_error or "").partition(":")[0] == RowKind.NO_WORK_PRODUCED
