"""The sweep's budget, example by example."""

from decimal import Decimal

import pytest

from farm.coordinator.budget import Budget, Spend
from farm.coordinator.mandate import Mandate, raised
from farm.errors import SpecError
from farm.model import CellBudget, Shard, SweepBudget
from tests.builders.sweeps import a_plan


def usd(most: str = "10", each: str = "2") -> Budget:
    return Budget.begin(SweepBudget(cost_usd=Decimal(most)), CellBudget(cost_usd=Decimal(each)))


def cost(amount: str | None) -> Spend:
    return Spend(None if amount is None else Decimal(amount), None)


def test_running_attempts_reserve_what_they_may_use_and_settle_what_they_used() -> None:
    budget = usd().reserve({0: 1, 1: 1, 2: 1, 3: 1})
    assert budget.may_send(sent=0)
    assert not budget.may_send(sent=1)
    assert budget.reserve({3: 1}) == budget, "what is sent again reserves nothing more"
    budget = budget.settle(0, 1, cost("0.5")).settle(0, 1, cost("0.5")).settle(1, 2, cost("2"))
    assert (budget.cost.known, sorted(budget.reserved)) == (Decimal("0.5"), [1, 2, 3])
    assert budget.may_send(sent=0)


def test_what_nobody_knows_counts_as_the_most_that_it_can_be() -> None:
    budget = usd(most="4").reserve({0: 1}).settle(0, 1, cost(None))
    assert (budget.cost.known, budget.cost.unknown, budget.cost.spent_at_most) == (0, 1, 2)
    assert not budget.is_used_up
    assert budget.count(cost("0.01")).is_used_up
    assert budget.words == "$0.00 of $4.00 used, at most $2.00 more in 1 attempts that nobody could measure"


def test_money_and_tokens_bound_together_and_are_told() -> None:
    both = Budget.begin(
        SweepBudget(cost_usd=Decimal(10), tokens=5000), CellBudget(cost_usd=Decimal(1), tokens=2000)
    ).reserve({0: 1})
    assert both.may_send(sent=0)
    assert not both.may_send(sent=1)
    assert both.words == "$0.00 of $10.00 used, $1.00 reserved; 0 tokens of 5,000 tokens used, 2,000 tokens reserved"


def test_without_a_budget_everything_fits() -> None:
    budget = Budget.begin(None, None)
    assert (budget.is_bounded, budget.is_used_up, budget.may_send(sent=10**6), budget.words) == (
        False,
        False,
        True,
        "",
    )


def test_a_budget_that_no_attempt_s_own_bounds_is_refused() -> None:
    with pytest.raises(SpecError, match="no cell_budget of cost_usd"):
        Budget.begin(SweepBudget(cost_usd=Decimal(1)), CellBudget(tokens=5))
    with pytest.raises(SpecError, match="no cell_budget of tokens"):
        Budget.begin(SweepBudget(tokens=9), None)


def test_a_raised_budget_stands_in_the_place_of_the_plan_s_and_shards_divide_it() -> None:
    plan = a_plan(budget=SweepBudget(cost_usd=Decimal(4), tokens=100), cell_budget=CellBudget(cost_usd=1, tokens=9))
    assert raised(plan, None, None) is None
    more = raised(plan, Decimal(8), None)
    assert more == SweepBudget(cost_usd=Decimal(8), tokens=100)
    assert Mandate(budget=more).budget_of(plan).cost.most == 8
    assert Mandate(Shard(number=1, of=4), more).budget_of(plan).cost.most == 2
    assert Mandate(Shard(number=1, of=4)).budget_of(plan).tokens.most == 25
