"""The exit code of a finalized sweep."""

from farm.model import Close, CloseReason, Decision, Settlement, Verdict

PASSED = 0
FAILED = 1
INCONCLUSIVE = 5
TRIPPED = 7


def exit_code(close: Close, settlement: Settlement, verdicts: tuple[Verdict, ...]) -> int:
    """Say how it went: the breaker before all, then a failed gate, then whatever leaves the question open."""
    if close.reason is CloseReason.BREAKER:
        return TRIPPED
    decisions = {verdict.decision for verdict in verdicts}
    if Decision.FAIL in decisions:
        return FAILED
    is_complete = close.reason is CloseReason.COMPLETE and all(cell.result is not None for cell in settlement.cells)
    return PASSED if is_complete and Decision.INCONCLUSIVE not in decisions else INCONCLUSIVE
