"""What a coordinator's end means for the exit code; the verdict is the finalizer's."""

from typing import assert_never

from farm.cli.codes import INTERRUPTED, OPEN
from farm.coordinator.loop import CoordinatorEnd, EndKind
from farm.finalizer.exit_code import INCONCLUSIVE, PASSED, TRIPPED
from farm.model import CloseReason


def coordinated_code(end: CoordinatorEnd) -> int:
    """Say how the coordinator's part ended; the verdict is the finalizer's."""
    match end.kind:
        case EndKind.INTERRUPTED:
            return INTERRUPTED
        case EndKind.LEFT_OPEN:
            return OPEN
        case EndKind.CLOSED:
            reason = end.close.reason if end.close else CloseReason.UNFINISHED
            return {CloseReason.COMPLETE: PASSED, CloseReason.BREAKER: TRIPPED}.get(reason, INCONCLUSIVE)
        case _:
            assert_never(end.kind)
