"""What repairs did to the truth: the oracle's word at each attempt, as far as it was seen when it was still true."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from farm.model import Capture


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The contract's and the oracle's word on one attempt."""

    attempt: int
    """From 1."""
    contract_passed: bool
    oracle_passed: bool
    capture: Capture = Capture.LIVE


@dataclass(frozen=True, slots=True)
class Repairs:
    """Changes of the oracle's word from one live snapshot to the next, or to the end."""

    live: int
    eligible: int
    """After an attempt that failed and had another one left."""
    rescues: int
    """Of those: wrong before, right after."""
    regressions: int
    """Of those: right before, wrong after."""
    broken_after_certification: int
    """Certified and right, and wrong at the end: no repair's doing."""


def labels(polls: Iterable[Sequence[int]], after_exit: Sequence[int] = ()) -> dict[int, Capture]:
    """Say how each attempt was captured: of those that one look finds new, only the newest is still what it was."""
    found: dict[int, Capture] = {}
    for new in polls:
        found |= dict.fromkeys(new, Capture.COALESCED) | ({max(new): Capture.LIVE} if new else {})
    return found | dict.fromkeys(after_exit, Capture.TERMINAL)


def repairs(snapshots: Iterable[Snapshot], passed_at_end: bool, budget: int | None) -> Repairs:
    """Count over the live snapshots in order, and the end; without a known `budget` of attempts nothing is eligible."""
    live = [one for one in snapshots if one.capture is Capture.LIVE]
    words = [*(one.oracle_passed for one in live), passed_at_end]
    steps = [
        (before, after)
        for one, (before, after) in zip(live, pairwise(words), strict=True)
        if not one.contract_passed and one.attempt < (budget or 0)
    ]
    return Repairs(
        live=len(live),
        eligible=len(steps),
        rescues=sum(not before and after for before, after in steps),
        regressions=sum(before and not after for before, after in steps),
        broken_after_certification=sum(
            one.contract_passed and before and not after
            for one, (before, after) in zip(live, pairwise(words), strict=True)
        ),
    )
