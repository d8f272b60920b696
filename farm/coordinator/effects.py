"""What the machine wants done. Each may be done twice; none may be left out."""

from dataclasses import dataclass
from enum import StrEnum

from farm.model import CloseReason, StopReason


class Deferral(StrEnum):
    """Why cells wait for a later run."""

    WINDOW = "window"
    """No time window leaves them the time that they need."""
    BUDGET = "budget"
    """The sweep's budget has no room for them."""


@dataclass(frozen=True, slots=True)
class SendTicket:
    """Make the attempt the cell's current one and offer it to the workers."""

    index: int
    attempt: int


@dataclass(frozen=True, slots=True)
class StartWait:
    """Say WaitOver for this attempt after `delay_s`."""

    index: int
    attempt: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class StartHold:
    """Say HoldOver for this hold after `delay_s`."""

    provider: str
    number: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class SettleOutcome:
    """Write the result of the attempt's stored outcome, and say Settled with what then stands."""

    index: int
    attempt: int


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Write the outcome and the result of a cell that an earlier sweep measured, then say Settled."""

    index: int


@dataclass(frozen=True, slots=True)
class PauseFrom:
    """Have claims of cells at and beyond `index` refused, and no others."""

    index: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Take the pause back."""


@dataclass(frozen=True, slots=True)
class CloseClaims:
    """Have every claim refused, then say ClaimsClosed."""


@dataclass(frozen=True, slots=True)
class OrderStop:
    """Ask the running cells to stop."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class CloseSweep:
    """Write close.json: the machine is over."""

    reason: CloseReason


@dataclass(frozen=True, slots=True)
class LeaveOpen:
    """The machine is over, and some cells wait for the next run: the sweep stays open."""

    why: frozenset[Deferral]


Effect = (
    SendTicket
    | StartWait
    | StartHold
    | SettleOutcome
    | TakeOver
    | PauseFrom
    | Resume
    | CloseClaims
    | OrderStop
    | CloseSweep
    | LeaveOpen
)
