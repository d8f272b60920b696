"""The table of durations that sweeps leave to the next."""

from farm.gates.table import Table
from farm.model import Expected, Pin, Plan
from farm.reporting.durations import expected_durations
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_table

AGENT = a_plan().arm_by_name[ON].agent.name


def expected(p50_s: float, p90_s: float, n: int, model: str | None = None) -> Expected:
    return Expected(p50_s=p50_s, p90_s=p90_s, n=n, agent=AGENT, model=model)


def test_half_and_nine_in_ten_measured_cells_end_within_the_expected_durations() -> None:
    lasted = [float(seconds) for seconds in range(1, 21)]
    rows = [a_row(At(ON, trial=trial), duration_s=seconds) for trial, seconds in enumerate(reversed(lasted), 1)]
    rows += [a_row(At(OFF), duration_s=2.0), a_row(At(OFF, trial=2), duration_s=None)]
    found = expected_durations([a_table(tuple(rows))])
    assert found == {"answer": {ON: (expected(10.0, 18.0, 20),), OFF: (expected(2.0, 2.0, 1),)}}
    assert sum(seconds <= 18.0 for seconds in lasted) >= 0.9 * len(lasted)


def test_what_was_never_measured_is_left_out() -> None:
    assert expected_durations([a_table((a_row(At(ON), duration_s=None),))]) == {}


def test_sweeps_are_counted_together_but_for_another_model() -> None:
    found = expected_durations([asking("small", 5.0), asking("large", 50.0), asking("small", 7.0)])
    assert found == {"answer": {ON: (expected(50.0, 50.0, 1, "large"), expected(5.0, 7.0, 2, "small"))}}


def asking(model: str, seconds: float) -> Table:
    plan = a_plan()
    agent = Pin(name=AGENT, version="1", options={"model": model})
    arms = tuple(arm.model_copy(update={"agent": agent}) for arm in plan.arms)
    return a_table((a_row(At(ON), duration_s=seconds),), Plan.model_construct(**dict(plan) | {"arms": arms}))
