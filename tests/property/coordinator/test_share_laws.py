"""The laws of sharing a fleet, over random sweeps."""

import random
from collections import defaultdict
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from farm.coordinator.share import AGEING_S, allot, divide, quota
from farm.model import Host, ShareClaim

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


def a_host(number: int, slots: int, *offers: str) -> Host:
    seen_at = datetime(2026, 1, 1, tzinfo=UTC)
    return Host(id=f"h{number}", slots=slots, busy=0, version="1", sandbox="bwrap", seen_at=seen_at, offers=offers)


KINDS = ("x", "y", "z")
hosts = st.lists(st.tuples(st.integers(0, 8), st.sets(st.sampled_from(KINDS))), max_size=6).map(
    lambda drawn: [a_host(number, slots, *sorted(offers)) for number, (slots, offers) in enumerate(drawn)]
)
needing = st.tuples(claims, st.lists(st.sets(st.sampled_from(KINDS), max_size=1), min_size=8, max_size=8)).map(
    lambda drawn: [
        claim.model_copy(update={"needs": (tuple(needs),)}) for claim, needs in zip(drawn[0], drawn[1], strict=False)
    ]
)


def can_use(claim: ShareClaim, host: Host) -> bool:
    return set(claim.needs[0]) <= set(host.offers)


@given(claims=needing, hosts=hosts, seed=st.integers())
def test_hosts_are_divided_among_those_that_can_use_them_and_no_slot_stays_free_that_is_wanted(
    claims: list[ShareClaim], hosts: list[Host], seed: int
) -> None:
    dealt = divide(claims, hosts)
    dice = random.Random(seed)  # noqa: S311 (dice, not secrets)
    assert divide(dice.sample(claims, len(claims)), dice.sample(hosts, len(hosts))) == dealt
    assert sum(dealt.values()) <= sum(host.slots for host in hosts)
    for claim in claims:
        usable = [host for host in hosts if can_use(claim, host)]
        there = sum(host.slots for host in usable)
        assert 0 <= dealt.get(claim.sweep, 0) <= min(claim.demand, there)
        if dealt.get(claim.sweep, 0) < claim.demand:
            rivals = [one for one in claims if any(can_use(one, host) for host in usable)]
            assert sum(dealt.get(one.sweep, 0) for one in rivals) >= there


def test_a_sweep_that_has_hosts_of_its_own_leaves_the_shared_ones_to_the_others() -> None:
    narrow = ShareClaim(sweep="a", weight=1, priority=0, demand=99, waited_s=0, needs=(("x",),))
    wide = ShareClaim(sweep="b", weight=1, priority=0, demand=99, waited_s=0)
    assert divide([narrow, wide], [a_host(1, 4, "x"), a_host(2, 4)]) == {"a": 4, "b": 4}


def test_sweeps_that_share_no_host_take_nothing_from_each_other() -> None:
    one = ShareClaim(sweep="a", weight=9, priority=2, demand=99, waited_s=0, needs=(("x",),))
    other = ShareClaim(sweep="b", weight=1, priority=0, demand=99, waited_s=0, needs=(("y",),))
    assert divide([one, other], [a_host(1, 4, "x"), a_host(2, 4, "y")]) == {"a": 4, "b": 4}


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
    caps = {"acme": 3}
    quotas = {own.sweep: quota(own, claims, [a_host(1, slots)], caps) for own in claims}
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
