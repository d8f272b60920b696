"""What a plan will cost: at most by its budgets, and probably by what such cells cost in earlier sweeps."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from farm.model import Plan
from farm.planning.carrying import Source
from farm.planning.priors import Damaged, Prior, read_priors


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is known beforehand. Cells that are taken over cost nothing."""

    runs: int = 0
    asking: int = 0
    """Those of them that ask a provider."""
    most_usd: Decimal | None = Decimal(0)
    """What the budgets let them cost, with every attempt; None: nothing bounds it."""
    expected_usd: Decimal = Decimal(0)
    """Of the cells whose like was measured before, at one attempt each."""
    unexpected: int = 0
    """The cells that ask a provider and of whose like nobody knows the cost."""


def forecast(plan: Plan, priors: Iterable[Prior | Damaged]) -> Forecast:
    """Price each cell at the mean of its task under its arm, else of its arm; by names, whatever has changed since."""
    by_pair, by_arm = defaultdict[tuple[str, str], list[Decimal]](list), defaultdict[str, list[Decimal]](list)
    for prior in priors:
        if isinstance(prior, Prior) and prior.row.cost_usd is not None:
            by_pair[prior.row.task, prior.row.arm].append(prior.row.cost_usd)
            by_arm[prior.row.arm].append(prior.row.cost_usd)
    fresh = [cell for cell in plan.cells if cell.id not in plan.reused]
    asking = [cell for cell in fresh if plan.arm_by_name[cell.arm].provider is not None]
    likes = [by_pair.get((cell.task, cell.arm)) or by_arm.get(cell.arm, []) for cell in asking]
    return Forecast(
        runs=len(fresh),
        asking=len(asking),
        most_usd=_most_usd(plan, len(asking)),
        expected_usd=sum((sum(like, Decimal(0)) / len(like) for like in likes if like), Decimal(0)),
        unexpected=sum(not like for like in likes),
    )


def forecast_by(plan: Plan, sources: Iterable[Source]) -> Forecast:
    """Forecast by the plan's own cells, and their likes, in sealed sweeps; errors as `read_priors`."""
    wanted = {cell.id for cell in plan.cells}
    return forecast(plan, (one for source in sources for one in read_priors(source.store, source.sweep, wanted)))


def _most_usd(plan: Plan, asking: int) -> Decimal | None:
    if asking == 0:
        return Decimal(0)
    bounds = list[Decimal]()
    if plan.budget is not None and plan.budget.cost_usd is not None:
        bounds.append(plan.budget.cost_usd)
    if plan.cell_budget is not None and plan.cell_budget.cost_usd is not None:
        attempts = max(plan.retry.most_attempts, plan.retry.outage_attempts)
        bounds.append(plan.cell_budget.cost_usd * asking * attempts)
    return min(bounds, default=None)
