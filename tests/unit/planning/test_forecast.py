from decimal import Decimal

import pytest

from farm.model import CellBudget, CellId, Origin, Plan, RetryPolicy, SweepBudget
from farm.planning.forecast import Forecast, forecast, forecast_by
from tests.builders.reusing import changed, measure, proven
from tests.builders.sweeps import a_plan, evidence

QUARTER = Decimal("0.25")


def asking(**changes: object) -> Plan:
    """Give a plan of which both arms ask a provider: 2 x 3 cells."""
    plan = a_plan()
    arms = tuple(arm.model_copy(update={"provider": "anthropic"}) for arm in plan.arms)
    return changed(plan, arms=arms, **changes)


def test_cells_that_ask_no_provider_cost_nothing() -> None:
    assert forecast(a_plan(), ()) == Forecast(runs=6)


def test_without_an_earlier_sweep_and_a_budget_nothing_is_known() -> None:
    assert forecast(asking(), ()) == Forecast(runs=6, asking=6, most_usd=None, unexpected=6)


def test_a_pilot_says_what_its_sweep_will_cost() -> None:
    pilot = measure(a_plan(trials=1))
    found = forecast_by(asking(), [pilot.source])
    assert (found.expected_usd, found.unexpected) == (6 * QUARTER, 0)


def test_an_arm_that_was_not_measured_is_not_taken_to_be_free() -> None:
    plan = asking()
    pilot = measure(changed(a_plan(trials=1), cells=a_plan(trials=1).cells[:1]))
    found = forecast_by(plan, [pilot.source])
    assert (found.expected_usd, found.unexpected) == (3 * QUARTER, 3)


def test_a_cell_whose_cost_nobody_knows_is_not_taken_to_be_free() -> None:
    unknown = measure(find=lambda plan, ticket: proven(plan, ticket, sessions=evidence(cost=None).sessions))
    found = forecast_by(asking(), [unknown.source])
    assert (found.expected_usd, found.unexpected) == (Decimal(0), 6)


@pytest.mark.parametrize(
    ("budget", "cell_budget", "most"),
    [("5", None, "5"), (None, "0.50", "12.00"), ("5", "0.50", "5"), ("50", "1", "24")],
)
def test_the_smaller_budget_bounds_the_cost_with_every_attempt_of_each_cell(
    budget: str | None, cell_budget: str | None, most: str
) -> None:
    plan = asking(
        budget=None if budget is None else SweepBudget(cost_usd=Decimal(budget)),
        cell_budget=None if cell_budget is None else CellBudget(cost_usd=Decimal(cell_budget)),
        retry=RetryPolicy(most_attempts=2, outage_attempts=4),
    )
    assert forecast(plan, ()).most_usd == Decimal(most)


def test_what_is_taken_over_is_not_paid_for() -> None:
    first = measure(asking())
    origin = first.result("task.old.1").outcome
    taken = asking().with_reused(
        {CellId("task.old.1"): Origin(sweep=first.sweep, attempt=1, outcome=origin, measured_at="2026-01-01T00:00:00Z")}
    )
    found = forecast_by(taken, [first.source])
    assert (found.runs, found.asking, found.expected_usd) == (5, 5, 5 * QUARTER)
