from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from farm.model import CellOrder
from farm.planning.cells import Ordering, order_cells

NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True), min_size=1, max_size=5, unique=True)
TRIALS = st.integers(1, 7)


@given(NAMES, NAMES, TRIALS, st.sampled_from(CellOrder))
def test_every_cell_stands_in_the_order_once(tasks: list[str], arms: list[str], trials: int, order: CellOrder) -> None:
    found = [(cell.task, cell.arm, cell.trial) for cell in order_cells(tasks, arms, trials, Ordering(order))]
    assert Counter(found) == Counter((t, a, n) for t in tasks for a in arms for n in range(1, trials + 1))


@given(NAMES, NAMES, TRIALS, st.sampled_from(sorted(set(CellOrder) - {CellOrder.PACKED})))
def test_a_block_is_never_torn(tasks: list[str], arms: list[str], trials: int, order: CellOrder) -> None:
    found = list(order_cells(tasks, arms, trials, Ordering(order)))
    for start in range(0, len(found), len(arms)):
        assert len({(cell.task, cell.trial) for cell in found[start : start + len(arms)]}) == 1


@given(NAMES, NAMES, TRIALS)
def test_rotated_lets_each_arm_be_first_equally_often(tasks: list[str], arms: list[str], trials: int) -> None:
    found = list(order_cells(tasks, arms, trials, Ordering(CellOrder.ROTATED)))
    firsts = Counter(cell.arm for cell in found[:: len(arms)])
    assert max(firsts.values()) - min(firsts.get(arm, 0) for arm in arms) <= 1
