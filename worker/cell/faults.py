"""Whose fault an error is: the one table from error classes to faults."""

from farm.errors import FarmError, IntegrityError, RefusedError, SpecError
from farm.model import Fault, FaultKind, StopReason
from farm.redaction import first_words
from sandbox.errors import SandboxError
from worker.cell.stops import ProviderFailedError, StoppedError, VerifierBrokenError
from worker.phases import PhaseError
from worker.trees.errors import TreeError

ANSWERABLE = (
    FarmError,
    SandboxError,
    StoppedError,
    VerifierBrokenError,
    ProviderFailedError,
    PhaseError,
    TreeError,
    OSError,
)
"""What the line answers by recording a fault; anything else is a bug of ours."""

_MOST_DETAIL = 2000
_STOPS = {
    StopReason.CANCEL: "cancelled",
    StopReason.DEADLINE: "stopped at the sweep's deadline",
    StopReason.BREAKER: "stopped when the breaker tripped",
    StopReason.WINDOW: "put off: its time window closes",
    StopReason.SHUTDOWN: "stopped with its worker",
    StopReason.DRAIN: "stopped because its host was drained",
}


def fault_of(error: Exception) -> Fault:
    """Say what kind of fault `error`, one of ANSWERABLE, is."""
    match error:
        case StoppedError():
            kind = FaultKind.DEFERRED if error.reason is StopReason.WINDOW else FaultKind.CANCELLED
            return Fault(kind=kind, detail=_STOPS.get(error.reason, str(error)))
        case ProviderFailedError():
            return Fault(kind=error.kind, detail=recordable(str(error)), retry_after_s=error.retry_after_s)
        case VerifierBrokenError():
            kind = FaultKind.ORACLE
        case RefusedError():  # another host's keys may be right, and ours may be renewed
            kind = FaultKind.HOST
        case SpecError():
            kind = FaultKind.TASK
        case IntegrityError() | TreeError() | PhaseError():
            kind = FaultKind.EVIDENCE
        case _:  # the sandbox, the store, the disk: this host, now
            kind = FaultKind.HOST
    return Fault(kind=kind, detail=recordable(f"{error}" or type(error).__name__))


def fault_of_bug(error: Exception) -> Fault:
    """Record a bug of ours by its last line: type and message."""
    return Fault(kind=FaultKind.BUG, detail=recordable(f"{type(error).__name__}: {error}"))


def unrecorded(error: FarmError | OSError) -> Fault:
    """Blame this host for an attempt whose artifacts or outcome the store did not take."""
    return Fault(kind=FaultKind.HOST, detail=recordable(f"the attempt could not be recorded: {error}"))


def recordable(text: str) -> str:
    """Fit text into a record: one line, bounded, valid Unicode."""
    flat = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return first_words(flat, _MOST_DETAIL)
