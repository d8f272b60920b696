"""What one run of a coordinator is for: all of a sweep or a shard, within the plan's budget or another."""

from dataclasses import dataclass
from decimal import Decimal

from farm.coordinator.budget import Budget
from farm.model import Plan, Shard, SweepBudget


@dataclass(frozen=True, slots=True)
class Mandate:
    """By default: the whole sweep, within the budget that its plan names."""

    shard: Shard | None = None
    budget: SweepBudget | None = None
    """In the place of the plan's."""

    def budget_of(self, plan: Plan) -> Budget:
        """Begin the budget; each of several shards has an equal part. Raise SpecError where nothing can keep it."""
        most = self.budget or plan.budget
        if most is not None and self.shard is not None:
            most = most.part(self.shard.of)
        return Budget.begin(most, plan.cell_budget)


def raised(plan: Plan, cost_usd: Decimal | None, tokens: int | None) -> SweepBudget | None:
    """Give the plan's budget with what a person now says of it; None when nothing is said."""
    if cost_usd is None and tokens is None:
        return None
    known = plan.budget
    return SweepBudget(
        cost_usd=cost_usd if cost_usd is not None or known is None else known.cost_usd,
        tokens=tokens if tokens is not None or known is None else known.tokens,
    )
