"""The exit code of a finalized sweep."""

import pytest

from farm.finalizer.exit_code import exit_code
from farm.model import CellId, Close, CloseReason, Decision, Pin, SettledCell, Settlement, SweepId, Unsettled, Verdict
from tests.builders.sweeps import START, D

SWEEP = SweepId("demo-000000000000.1")


def verdict(decision: Decision) -> Verdict:
    return Verdict(
        sweep=SWEEP,
        settlement=D,
        cleanup=D,
        gate=Pin(name="gate", version="1"),
        decision=decision,
        summary="",
        checks=(),
    )


def settlement(*, is_complete: bool) -> Settlement:
    cell = SettledCell(
        cell=CellId("task.arm.1"),
        result=D if is_complete else None,
        unsettled=None if is_complete else Unsettled.STOPPED,
    )
    return Settlement(sweep=SWEEP, plan=D, close=D, cells=(cell,), workers_settled=True, settled_at=START)


@pytest.mark.parametrize(
    ("reason", "is_complete", "decisions", "code"),
    [
        (CloseReason.COMPLETE, True, [], 0),
        (CloseReason.COMPLETE, True, [Decision.PASS], 0),
        (CloseReason.COMPLETE, True, [Decision.PASS, Decision.FAIL], 1),
        (CloseReason.COMPLETE, True, [Decision.PASS, Decision.INCONCLUSIVE], 5),
        (CloseReason.COMPLETE, True, [Decision.INCONCLUSIVE, Decision.FAIL], 1),
        (CloseReason.COMPLETE, False, [Decision.PASS], 5),
        (CloseReason.CANCELLED, False, [], 5),
        (CloseReason.CANCELLED, True, [Decision.PASS], 5),
        (CloseReason.CANCELLED, False, [Decision.FAIL], 5),
        (CloseReason.UNFINISHED, False, [Decision.FAIL], 5),
        (CloseReason.BUG, False, [Decision.FAIL], 5),
        (CloseReason.DEADLINE, False, [Decision.FAIL], 1),
        (CloseReason.UNFINISHED, False, [Decision.INCONCLUSIVE], 5),
        (CloseReason.BUG, False, [], 5),
        (CloseReason.BREAKER, False, [], 7),
        (CloseReason.BREAKER, False, [Decision.FAIL], 7),
    ],
)
def test_the_exit_code_says_how_it_went(
    reason: CloseReason, is_complete: bool, decisions: list[Decision], code: int
) -> None:
    close = Close(sweep=SWEEP, reason=reason, closed_at=START)
    assert exit_code(close, settlement(is_complete=is_complete), tuple(map(verdict, decisions))) == code
