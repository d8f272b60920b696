"""What a report says of the sweep's budget: only what nobody could measure, or what was passed, is worth a warning."""

from collections.abc import Callable
from decimal import Decimal

from farm.model import Outcome
from farm.reporting.report_input import ReportInput


def budget_warnings(source: ReportInput) -> list[str]:
    """Say how much of the budget is known to be used, where attempts used what nobody knows or passed it."""
    budget = source.plan.budget
    if budget is None:
        return []
    found = []
    if budget.cost_usd is not None:
        found.append(_warning(source, budget.cost_usd, lambda one: one.cost_usd, "${:.2f}"))
    if budget.tokens is not None:
        found.append(_warning(source, Decimal(budget.tokens), lambda one: one.tokens, "{:,.0f} tokens"))
    return [warning for warning in found if warning is not None]


def _warning(
    source: ReportInput, most: Decimal, amount: Callable[[Outcome], Decimal | int | None], say: str
) -> str | None:
    paying = {arm.name for arm in source.plan.arms if arm.provider is not None}
    cells = (cell.id for cell in source.plan.cells if cell.arm in paying)
    amounts = [amount(outcome) for cell in cells for outcome in source.outcomes.get(cell, ())]
    known = sum((Decimal(one) for one in amounts if one is not None), Decimal(0))
    unknown = amounts.count(None)
    if known <= most and not unknown:
        return None
    rest = f", and {unknown} attempts used what nobody could measure" if unknown else ""
    return f"Of the budget of {say.format(most)}, {say.format(known)} are known to be used{rest}."
