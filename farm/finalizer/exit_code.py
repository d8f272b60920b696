"""The exit code of a finalized sweep."""

from farm.model import Close, CloseReason, Decision, Settlement, Verdict

PASSED = 0
FAILED = 1
INCONCLUSIVE = 5
TRIPPED = 7

_CUT_SHORT = frozenset({CloseReason.CANCELLED, CloseReason.UNFINISHED, CloseReason.BUG})


def exit_code(close: Close, settlement: Settlement, verdicts: tuple[Verdict, ...]) -> int:
    """Say how it went.

    A sweep that was cut short by a person, a bug or the breaker says so, whatever a gate that fails closed made of
    its missing cells; a deadline is the plan's own, so a gate that fails on it has failed.
    """
    if close.reason is CloseReason.BREAKER:
        return TRIPPED
    if close.reason in _CUT_SHORT:
        return INCONCLUSIVE
    decisions = {verdict.decision for verdict in verdicts}
    if Decision.FAIL in decisions:
        return FAILED
    is_complete = close.reason is CloseReason.COMPLETE and all(cell.result is not None for cell in settlement.cells)
    return PASSED if is_complete and Decision.INCONCLUSIVE not in decisions else INCONCLUSIVE
