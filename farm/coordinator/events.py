"""What the machine is told. An event that is late, doubled or stale changes nothing."""

from dataclasses import dataclass, field

from farm.coordinator.budget import Spend, Used
from farm.coordinator.share import Quota
from farm.model import Fault, FaultKind


@dataclass(frozen=True, slots=True)
class SlotsChanged:
    """The fleet has `slots` live slots. The first of these starts dispatch; what comes before it is replay."""

    slots: int
    closed: frozenset[int] = frozenset()
    """The lanes from which no host takes."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """The records show attempt `attempt` of a cell without a result: it may still run, or it is over for good."""

    index: int
    attempt: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class Restored:
    """A checkpoint counts these cells as through, by bits; told before anything else, if at all."""

    done: int
    unusable: int
    cost: Used = field(default_factory=Used)
    """What the attempts of those of them used that have a provider."""
    tokens: Used = field(default_factory=Used)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A worker runs the attempt."""

    index: int
    attempt: int


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """The store holds the attempt's outcome, and no result of the cell. No fault: it is evidence."""

    index: int
    attempt: int
    fault: Fault | None
    interrupted: int = 0
    """How many of the cell's earlier attempts a person or a shutdown ended: they count for nothing."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The store holds the cell's result, whichever attempt made it."""

    index: int
    fault: FaultKind | None
    is_sound: bool = True
    """Of a result without a fault: whether its evidence can be read as an answer."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """The attempt's ticket was sent long ago and nobody has claimed it."""

    index: int
    attempt: int


@dataclass(frozen=True, slots=True)
class WaitOver:
    """The wait before this attempt is over."""

    index: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Pressed:
    """The attempt's provider turned requests away."""

    index: int
    attempt: int
    retry_after_s: float | None


@dataclass(frozen=True, slots=True)
class HoldOver:
    """The provider's hold of this number has lasted."""

    provider: str
    number: int


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """The time windows leave so much: of the sweep's own and of the hosts'; None: nothing bounds it."""

    left_s: float | None


@dataclass(frozen=True, slots=True)
class QuotaChanged:
    """Of the fleet, and of what may be outstanding at providers, the sweep may take so much."""

    quota: Quota


@dataclass(frozen=True, slots=True)
class Spent:
    """The attempt used so much at its provider. It is told before the attempt's end."""

    index: int
    attempt: int
    spend: Spend


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """A person wants the sweep to end."""


@dataclass(frozen=True, slots=True)
class DeadlineReached:
    """The plan's deadline has passed."""


@dataclass(frozen=True, slots=True)
class ClaimsClosed:
    """No claim succeeds any more; the cells of `held` are those that still have a lease."""

    held: frozenset[int]


Event = (
    SlotsChanged
    | Replayed
    | Restored
    | Claimed
    | AttemptEnded
    | Settled
    | Overdue
    | WaitOver
    | Pressed
    | HoldOver
    | TimeLeft
    | Spent
    | QuotaChanged
    | CancelAsked
    | DeadlineReached
    | ClaimsClosed
)
