"""Coordinators of several sweeps, on one Redis and one fleet."""

from collections import Counter
from decimal import Decimal

import pytest

from farm.coordinator.loop import EndKind
from farm.model import CellBudget, DispatchPolicy, FaultKind, Plan, ShareClaim
from tests.builders.sweeps import Farm, Worker, a_plan, evidence, fault


def other(demand: int, **changes: object) -> ShareClaim:
    claim = ShareClaim(sweep="other", weight=1, priority=0, demand=demand, waited_s=0, providers=("acme",))
    return claim.model_copy(update=changes)


def sent_beside(plan: Plan, claim: ShareClaim | None, slots: int = 4) -> int:
    """Count the tickets that a sweep sends at once beside another's claim."""
    farm = Farm(plan, slots=slots)
    if claim is not None:
        farm.shares.claim(claim, 10**6)
    farm.run(lambda turn: turn > 5)
    return len(farm.dispatcher.sent)


@pytest.mark.parametrize(
    ("claim", "sent"),
    [
        (None, 8),
        (other(0), 8),
        (other(100), 4),
        (other(1), 6),
        (other(100, weight=3), 2),
        (other(100, priority=1), 0),
        (other(100, priority=-1), 8),
        (other(100, waited_s=1000), 4),
        (other(100, needs=(("sandbox bubblewrap",),)), 4),
        (other(100, needs=(("sandbox docker",),)), 8),
        (other(100, priority=-1, waited_s=1000), 6),
    ],
)
def test_a_sweep_takes_its_share_of_the_slots(claim: ShareClaim | None, sent: int) -> None:
    assert sent_beside(a_plan(trials=20), claim) == sent


def test_a_sweep_without_a_slot_gets_one_before_long_and_says_what_it_waits_for() -> None:
    farm = Farm(a_plan(trials=20), slots=4)
    farm.shares.claim(other(100, priority=3), 10**6)
    farm.run(lambda _: bool(farm.dispatcher.sent))
    assert len(farm.dispatcher.sent) == 2
    assert 400 < farm.clock.monotonic() < 600
    assert (
        farm.seen[-2].waiting
        == "the slots are other sweeps' for now: by priority and weight, and nobody waits for ever"
    )


def test_a_sweep_that_ends_leaves_its_share_at_once() -> None:
    farm = Farm(a_plan())
    farm.run(farm.works(lambda _: evidence()))
    assert farm.shares.claims() == ()


def capped(**arms: str) -> Plan:
    """Cap acme at two cells; `arms` names the provider of each."""
    plan = a_plan(trials=20, dispatch=DispatchPolicy(most_by_provider={"acme": 2}))
    named = tuple(arm.model_copy(update={"provider": arms.get(arm.name)}) for arm in plan.arms)
    return plan.model_copy(update={"arms": named, "cell_budget": CellBudget(cost_usd=Decimal(1))})


def test_a_provider_s_cap_holds_its_cells_back_and_no_others() -> None:
    farm = Farm(capped(old="acme"), slots=4)
    worker = Worker(farm)
    most = Counter[str]()

    def step(_turn: int) -> None:
        for ticket in farm.dispatcher.take():
            assert worker.claim(ticket)
        running = Counter(farm.plan.cells[index].arm for index in worker.held)
        for arm, count in running.items():
            most[arm] = max(most[arm], count)
        if worker.held:
            worker.finish(min(worker.held), evidence())

    assert farm.run(step).kind is EndKind.CLOSED
    assert most["old"] == 2
    assert most["new"] > 2


def test_sweeps_that_ask_the_same_provider_share_its_cap() -> None:
    assert sent_beside(capped(old="acme", new="acme"), None) == 2
    assert sent_beside(capped(old="acme", new="acme"), other(50)) == 1
    assert sent_beside(capped(old="acme", new="acme"), other(50, providers=())) == 2


def test_a_sweep_that_a_provider_holds_up_leaves_its_share_to_the_others() -> None:
    plan = a_plan(trials=20)
    arms = tuple(arm.model_copy(update={"provider": "acme"}) for arm in plan.arms)
    farm = Farm(plan.model_copy(update={"arms": arms}), slots=8)
    works = farm.works(lambda ticket: fault(FaultKind.RATE_LIMIT) if ticket.attempt == 1 else evidence())
    wanted = list[int]()

    def step(turn: int) -> bool:
        works(turn)
        wanted.extend(claim.demand for claim in farm.shares.claims())
        return turn > 60

    farm.run(step)
    assert wanted[0] == 8
    assert min(wanted) <= 2


def test_a_sweep_with_a_capped_provider_leaves_the_slots_that_it_cannot_fill() -> None:
    farm = Farm(capped(old="acme", new="acme"), slots=8)
    wanted = list[int]()

    def step(turn: int) -> bool:
        wanted.extend(claim.demand for claim in farm.shares.claims())
        return turn > 20

    farm.run(step)
    assert wanted[-1] == 3


def test_slots_of_hosts_that_the_others_cannot_use_are_not_shared_with_them() -> None:
    assert sent_beside(a_plan(trials=20), other(100, needs=(("label gpu",),))) == 8
