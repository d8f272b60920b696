from hypothesis import given
from hypothesis import strategies as st

from farm.planning.schedule import lower_bound_s, makespan_s, waves_s

LASTS = st.lists(st.integers(1, 100).map(float), min_size=1, max_size=40)
SLOTS = st.integers(1, 6)


@given(LASTS, SLOTS, st.integers(0, 40))
def test_no_order_undercuts_the_bound_and_looking_further_ahead_than_all_is_no_bound(
    lasts_s: list[float], slots: int, more: int
) -> None:
    free_s = makespan_s(lasts_s, slots)
    assert lower_bound_s(lasts_s, slots) <= free_s <= waves_s(lasts_s, slots)
    assert makespan_s(lasts_s, slots, ahead=len(lasts_s) + more) == free_s
    assert makespan_s(lasts_s, slots, ahead=1) == sum(lasts_s)


@given(LASTS, SLOTS)
def test_no_order_idles_a_slot_while_a_cell_waits(lasts_s: list[float], slots: int) -> None:
    graham_s = sum(lasts_s) / slots + max(lasts_s) * (slots - 1) / slots
    assert makespan_s(lasts_s, slots) <= graham_s + 1e-6
