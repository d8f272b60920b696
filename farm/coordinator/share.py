"""Shares of a fleet: by priority, then by weight, and a place for whoever has waited long enough.

What must stay true: every coordinator works out the same shares from the same claims; together they are no more than
there is; what one cannot use goes to the others; and nobody starves, whatever the weights and priorities.
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from farm.model import Host, ShareClaim, lacking, offers

AGEING_S = 120.0
"""Who has waited for so long gets one place before all others; each step of priority below the highest adds as much."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What a sweep may take."""

    slots: int | None = None
    """Its share of the live slots; None: it is alone."""
    providers: Mapping[str, int] = field(default_factory=dict)
    """The most cells that may be outstanding at a provider, where that is bounded."""


def divide(claims: Iterable[ShareClaim], hosts: Iterable[Host]) -> Mapping[str, int]:
    """Divide the hosts' slots among the claims that can use them, by sweep; none gets more than it demands.

    Hosts that few can use come first, and what a sweep has there counts where it meets others.
    """
    claims = tuple(claims)
    slots = dict[tuple[str, ...], int]()
    for host in hosts:
        offered = offers(host)
        able = tuple(sorted(claim.sweep for claim in claims if _can_use(claim, offered)))
        slots[able] = slots.get(able, 0) + host.slots
    shares = dict[str, int]()
    for able in sorted(slots, key=lambda able: (len(able), able)):
        shares |= allot((claim for claim in claims if claim.sweep in able), slots[able], shares)
    return shares


def _can_use(claim: ShareClaim, offered: frozenset[str]) -> bool:
    return not claim.needs or any(not lacking(frozenset(need), offered) for need in claim.needs)


def allot(claims: Iterable[ShareClaim], places: int, had: Mapping[str, int] | None = None) -> Mapping[str, int]:
    """Divide `places` among the claims, by sweep, on top of what each `had`; none gets more than it demands."""
    had = had or {}
    wanting = sorted((claim for claim in claims if claim.demand > 0), key=lambda claim: claim.sweep)
    shares = {claim.sweep: had.get(claim.sweep, 0) for claim in wanting}
    left = places
    for claim in [claim for claim in _overdue(wanting) if shares[claim.sweep] == 0][:places]:
        shares[claim.sweep] = 1
        left -= 1
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


def quota(own: ShareClaim, others: Iterable[ShareClaim], hosts: Iterable[Host], caps: Mapping[str, int]) -> Quota:
    """Work out what `own` may take of the hosts, and of what its plan lets be outstanding at each provider."""
    claims = (own, *(claim for claim in others if claim.sweep != own.sweep))
    shared = {provider: [claim for claim in claims if provider in claim.providers] for provider in caps}
    return Quota(
        slots=None if len(claims) == 1 else divide(claims, hosts).get(own.sweep, 0),
        providers={
            provider: cap if len(shared[provider]) == 1 else allot(shared[provider], cap).get(own.sweep, 0)
            for provider, cap in caps.items()
        },
    )
