"""Shares of a fleet: by priority, then by weight, and a place for whoever has waited long enough.

What must stay true: every coordinator works out the same shares from the same claims; together they are no more than
there is; what one cannot use goes to the others; and nobody starves, whatever the weights and priorities.
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from farm.model import ShareClaim, lacking

AGEING_S = 120.0
"""Who has waited for so long gets one place before all others; each step of priority below the highest adds as much."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What a sweep may take."""

    slots: int | None = None
    """Its share of the live slots; None: it is alone."""
    providers: Mapping[str, int] = field(default_factory=dict)
    """The most cells that may be outstanding at a provider, where that is bounded."""


def allot(claims: Iterable[ShareClaim], places: int) -> Mapping[str, int]:
    """Divide `places` among the claims, by sweep; none gets more than it demands."""
    wanting = sorted((claim for claim in claims if claim.demand > 0), key=lambda claim: claim.sweep)
    shares = dict.fromkeys((claim.sweep for claim in wanting), 0)
    for claim in _overdue(wanting)[:places]:
        shares[claim.sweep] = 1
    left = places - sum(shares.values())
    for _, ranked in groupby(sorted(wanting, key=_rank), key=_rank):
        left -= _by_weight(tuple(ranked), shares, left)
    return shares


def _rank(claim: ShareClaim) -> int:
    return -claim.priority


def _overdue(claims: list[ShareClaim]) -> list[ShareClaim]:
    """List who has waited too long, the longest first."""
    highest = max((claim.priority for claim in claims), default=0)
    late = [claim for claim in claims if claim.waited_s >= AGEING_S * (1 + highest - claim.priority)]
    return sorted(late, key=lambda claim: (-claim.waited_s, claim.sweep))


def _by_weight(claims: tuple[ShareClaim, ...], shares: dict[str, int], places: int) -> int:
    """Give places one by one to whom the next brings least above its weight; return how many were given."""
    given = 0
    turns = [(_turn(claim, shares[claim.sweep]), claim) for claim in claims if shares[claim.sweep] < claim.demand]
    order = [(*turn, number) for number, (turn, _) in enumerate(turns)]
    heapq.heapify(order)
    while order and given < places:
        number = heapq.heappop(order)[-1]
        claim = turns[number][1]
        shares[claim.sweep] += 1
        given += 1
        if shares[claim.sweep] < claim.demand:
            heapq.heappush(order, (*_turn(claim, shares[claim.sweep]), number))
    return given


def _turn(claim: ShareClaim, has: int) -> tuple[float, float]:
    """Say when the claim's next place is due: by its weight, and among equals to whom has waited longest."""
    return ((has + 1) / claim.weight, -claim.waited_s)


@dataclass(frozen=True, slots=True)
class Room:
    """What there is to be shared."""

    slots: int
    """Of the hosts that can run cells of the sweep in question."""
    offers: frozenset[frozenset[str]]
    """What these hosts offer, each: a sweep that none of them can run takes none of their slots."""
    caps: Mapping[str, int] = field(default_factory=dict)
    """How many cells may be outstanding at a provider."""

    def is_wanted_by(self, claim: ShareClaim) -> bool:
        """Say whether a cell of the claim's sweep could run here."""
        needs = [frozenset(needed) for needed in claim.needs]
        return not needs or any(not lacking(needed, offered) for offered in self.offers for needed in needs)


def quota(own: ShareClaim, others: Iterable[ShareClaim], room: Room) -> Quota:
    """Work out what `own` may take of the slots, and of what may be outstanding at each provider."""
    claims = (own, *(claim for claim in others if claim.sweep != own.sweep))
    rivals = [claim for claim in claims if claim is own or room.is_wanted_by(claim)]
    shared = {provider: [claim for claim in claims if provider in claim.providers] for provider in room.caps}
    return Quota(
        slots=None if len(rivals) == 1 else allot(rivals, room.slots).get(own.sweep, 0),
        providers={
            provider: cap if len(shared[provider]) == 1 else allot(shared[provider], cap).get(own.sweep, 0)
            for provider, cap in room.caps.items()
        },
    )
