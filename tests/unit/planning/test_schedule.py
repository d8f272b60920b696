"""How long a plan's cells would take, before anything is paid."""

import pytest

from farm.errors import SpecError
from farm.model import CellOrder, DispatchPolicy, Expected
from farm.planning.schedule import lower_bound_s, makespan_s, simulate, waves_s
from tests.builders.sweeps import a_plan


def test_a_free_slot_takes_the_next_cell_and_a_wave_waits_for_its_longest() -> None:
    lasts_s = [5.0, 1.0, 1.0, 1.0, 4.0]
    assert makespan_s(lasts_s, 2) == 7.0
    assert waves_s(lasts_s, 2) == 10.0
    assert lower_bound_s(lasts_s, 2) == 6.0


def test_the_strict_policy_waits_for_a_straggler() -> None:
    assert makespan_s([9.0, 1.0, 1.0, 1.0, 1.0], 2, ahead=2) == 11.0


def test_each_order_is_played_with_what_half_of_the_cells_last() -> None:
    known = {"task": {"old": Expected(p50_s=1.0, p90_s=3.0, n=9), "new": 4.0}}
    found = simulate(a_plan(trials=2, durations=known), slots=2)
    assert (found.cells, found.guessed, found.bound_s) == (4, 0, 5.0)
    assert found.orders[CellOrder.PACKED] == 5.0
    assert found.orders[CellOrder.TASK_MAJOR] == 6.0
    assert found.waves_s == 8.0


def test_a_cell_of_unknown_duration_is_taken_at_its_limit_and_counted() -> None:
    plan = a_plan(trials=1, durations={"task": {"old": 1.0}})
    found = simulate(plan, slots=1)
    limit_s = plan.task_by_name["task"].limits.wall_s
    assert (found.guessed, found.bound_s) == (1, limit_s + 1.0)


def test_cells_that_are_not_run_take_no_time() -> None:
    plan = a_plan(trials=1, durations={"task": {"old": 1.0, "new": 4.0}})
    found = simulate(plan, slots=1, skipped=frozenset({0}))
    assert (found.cells, found.bound_s, found.waves_s) == (1, 4.0, 4.0)


def test_slots_that_the_strict_policy_could_never_use_are_refused() -> None:
    with pytest.raises(SpecError, match=r"dispatch.ahead is 2, so 3 slots"):
        simulate(a_plan(dispatch=DispatchPolicy(ahead=2)), slots=3)
