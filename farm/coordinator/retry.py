"""What follows an attempt that left no result."""

import hashlib
from dataclasses import dataclass

from farm.model import Fault, FaultKind, RetryPolicy


@dataclass(frozen=True, slots=True)
class Settle:
    """The attempt was the last: its outcome becomes the result."""


@dataclass(frozen=True, slots=True)
class Again:
    """Another attempt, after `delay_s`."""

    delay_s: float


@dataclass(frozen=True, slots=True)
class PutAside:
    """Nothing more in this run: the cell stays open for the next."""


LOST = Fault(kind=FaultKind.LOST, detail="lost: its worker is gone and left no outcome")


def share(salt: str, index: int, attempt: int) -> float:
    """Draw a number from 0 to 1 that is always the same for an attempt, and unlike any other's."""
    drawn = hashlib.sha256(f"{salt}/{index}/{attempt}".encode()).digest()
    return int.from_bytes(drawn[:8]) / 2**64


def after(
    fault: Fault | None, tried: int, policy: RetryPolicy, spread: float, *, has_time: bool
) -> Settle | Again | PutAside:
    """Decide; no fault means evidence, and `tried` counts the attempts that nobody interrupted, this one included.

    `spread` (0 to 1) is the wait's jitter.

    A cell whose worker was shut down goes to another one, after a moment, however often that happens; so does one
    whose host's time window closed, while `has_time`: another host's is open.
    """
    if fault is None:
        return Settle()
    if fault.kind is FaultKind.CANCELLED or (fault.is_open and has_time):
        return Again(policy.base_delay_s)
    if fault.is_open:
        return PutAside()
    return Again(policy.wait_s(fault, tried, spread)) if policy.earns_another(fault, tried) else Settle()
