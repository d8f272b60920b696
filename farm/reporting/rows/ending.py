"""What came of a row's cell, in the workflow benchmark's words."""

from farm.gates.promotion.taxonomy import STANDINGS, Health, RowKind, primary_kind
from farm.gates.table import Row
from farm.model import ExitKind, ExitReason, ProcessExit, SessionReport
from farm.reporting.rows.case import Case
from farm.reporting.rows.fields import Ending, SessionTrouble

_MOST_DETAIL = 2000
_STREAM_TROUBLE = {ExitReason.STREAM_INVALID, ExitReason.NO_TERMINAL, ExitReason.TWO_TERMINALS}
_ENDED = {ExitReason.SUCCESS, ExitReason.BLANK_ANSWER}


def ending(case: Case) -> Ending:
    """Say what came of the cell."""
    kind = case.kind
    return Ending(
        ok=STANDINGS[kind].health is Health.OK,
        resolved=kind is RowKind.PASSED,
        error_kind=None if kind is RowKind.PASSED else kind,
        error_detail=_unsettled(case) if case.row.unsettled is not None else _detail(case.row, kind),
    )


def _unsettled(case: Case) -> str:
    """Say why there is no result, and what became of the last attempt, which counts for nothing."""
    last = case.outcomes[-1] if case.outcomes else None
    fault = None if last is None else last.fault
    before = "" if last is None or fault is None else f"; attempt {last.attempt}: {fault.kind} fault: {fault.detail}"
    return f"{case.row.unsettled}{before}"[:_MOST_DETAIL]


def _detail(row: Row, kind: RowKind) -> str | SessionTrouble | None:
    if kind is RowKind.CLEANUP_FAILURE:
        primary = primary_kind(row)
        before = _detail(row, primary)
        told = before.process_detail or before.subtype if isinstance(before, SessionTrouble) else before
        return f"{row.cleanup_problem}; before that: {primary}{f': {told}' if told else ''}"[:_MOST_DETAIL]
    if row.fault is not None:
        return row.fault.detail[:_MOST_DETAIL]
    failed = next((session for session in row.sessions if session.reason not in _ENDED), None)
    return _trouble(failed) if failed is not None else _told_of_answer(row, kind)


def _told_of_answer(row: Row, kind: RowKind) -> str | None:
    """Say what is wrong in words of ours: a hidden check's own may tell what it looks for."""
    match kind:
        case RowKind.IMPLEMENTATION_EVIDENCE_INVALID if row.scope is not None:
            strayed = (*row.scope.before_oracle, *row.scope.after_oracle)
            return f"changed outside its scope: {', '.join(strayed)}"[:_MOST_DETAIL]
        case RowKind.VERIFY_FAILED if row.verify is not None:
            return f"the visible check ended with {_ended(row.verify.exit)}"
        case RowKind.ORACLE_FAILED:
            return "the hidden check says that the answer is wrong"
        case RowKind.NO_WORK_PRODUCED:
            return "nothing was changed that counts as work"
        case RowKind.ORACLE_UNAVAILABLE:
            return "the hidden check was not completed"
        case _:
            return None


def _ended(exit_: ProcessExit) -> str:
    match exit_.kind:
        case ExitKind.EXITED:
            return f"code {exit_.code}"
        case ExitKind.SIGNALED:
            return f"signal {exit_.signal}"
        case ExitKind.LIMIT:
            return f"its {exit_.limit} limit"
        case ExitKind.STOPPED:
            return "an order to stop"


def _trouble(session: SessionReport) -> SessionTrouble:
    return SessionTrouble(
        subtype=session.reason,
        returncode=session.exit.code if session.exit.signal is None else -session.exit.signal,
        process_state=_state(session.exit),
        process_detail=session.problem,
        event_stream_error=session.problem if session.reason in _STREAM_TROUBLE else None,
    )


def _state(exit_: ProcessExit) -> str:
    match exit_.kind:
        case ExitKind.EXITED | ExitKind.SIGNALED:
            return "exited"
        case ExitKind.LIMIT:
            return "timeout" if exit_.limit == "wall" else "forced-kill"
        case ExitKind.STOPPED:
            return "cancelled"
