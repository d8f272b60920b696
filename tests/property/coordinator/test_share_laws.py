"""The laws of sharing a fleet, over random sweeps."""

import random
from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from farm.coordinator.share import AGEING_S, Room, allot, quota
from farm.model import ShareClaim

PROVIDERS = ("acme", "other")
claims = st.lists(
    st.builds(
        ShareClaim,
        sweep=st.integers(0, 99).map("s-{:02}".format),
        weight=st.sampled_from([0.1, 0.5, 1.0, 2.0, 10.0]),
        priority=st.integers(-2, 2),
        demand=st.integers(0, 30),
        waited_s=st.sampled_from([0.0, 1.0, AGEING_S, 5 * AGEING_S, 9 * AGEING_S]),
        providers=st.sampled_from([(), ("acme",), PROVIDERS]),
    ),
    max_size=8,
    unique_by=lambda claim: claim.sweep,
)
places = st.integers(0, 50)


@given(claims=claims, places=places, seed=st.integers())
def test_all_places_are_given_to_whom_can_use_them_and_everybody_works_out_the_same(
    claims: list[ShareClaim], places: int, seed: int
) -> None:
    shares = allot(claims, places)
    mixed = random.Random(seed).sample(claims, len(claims))  # noqa: S311 (dice, not secrets)
    assert allot(mixed, places) == shares
    demands = {claim.sweep: claim.demand for claim in claims}
    assert all(0 <= share <= demands[sweep] for sweep, share in shares.items())
    assert sum(shares.values()) == min(places, sum(demands.values()))


@given(claims=claims, places=places)
def test_priority_goes_before_weight_and_weight_holds_within_a_place(claims: list[ShareClaim], places: int) -> None:
    fresh = [claim.model_copy(update={"waited_s": 0.0}) for claim in claims if claim.demand]
    shares = allot(fresh, places)
    for one in fresh:
        for other in fresh:
            if one.priority > other.priority and shares[other.sweep]:
                assert shares[one.sweep] == one.demand
            if one.priority == other.priority and shares[one.sweep] < one.demand:
                assert shares[other.sweep] / other.weight <= (shares[one.sweep] + 1) / one.weight + 1e-9


@settings(deadline=None, max_examples=60)
@given(claims=claims, slots=st.integers(1, 4), seed=st.integers())
def test_nobody_starves(claims: list[ShareClaim], slots: int, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (dice, not secrets)
    tick_s, longest = AGEING_S / 4, 4
    ends = defaultdict[str, list[int]](list)
    waits_since = dict.fromkeys((claim.sweep for claim in claims if claim.demand), 0)
    most = dict.fromkeys(waits_since, 0)
    for now in range(400):
        for sweep in ends:
            ends[sweep] = [end for end in ends[sweep] if end > now]
        said = [
            claim.model_copy(
                update={"waited_s": 0.0 if ends[claim.sweep] else tick_s * (now - waits_since[claim.sweep])}
            )
            for claim in claims
            if claim.demand
        ]
        shares = allot(said, slots)
        for claim in sorted(said, key=lambda _: dice.random()):
            sweep = claim.sweep
            while len(ends[sweep]) < shares[sweep] and sum(map(len, ends.values())) < slots:
                ends[sweep].append(now + dice.randint(1, longest))
            if ends[sweep]:
                waits_since[sweep] = now + 1
            most[sweep] = max(most[sweep], now - waits_since[sweep])
    steps = (
        1 + max((claim.priority for claim in claims), default=0) - min((claim.priority for claim in claims), default=0)
    )
    patience = 4 * steps + longest * (len(most) + 1)
    assert all(waited <= patience for waited in most.values()), (most, patience)


@given(claims=claims, slots=places)
def test_a_provider_s_cap_is_shared_by_the_sweeps_that_ask_it(claims: list[ShareClaim], slots: int) -> None:
    room = Room(slots, frozenset(), {"acme": 3})
    quotas = {own.sweep: quota(own, claims, room) for own in claims}
    if len(claims) == 1:
        (alone,) = quotas.values()
        assert alone.slots is None
    else:
        assert sum(found.slots or 0 for found in quotas.values()) <= slots
    asking = [claim for claim in claims if "acme" in claim.providers]
    taken = sum(quotas[claim.sweep].providers["acme"] for claim in asking)
    assert taken <= 3
    if len(asking) == 1:
        assert taken == 3
