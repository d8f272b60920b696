"""The cells of a sweep, in the one order in which they run and are folded."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import assert_never

from farm.model import Cell, CellOrder

MOST_CELLS = 1_000_000


def order_cells(tasks: Sequence[str], arms: Sequence[str], trials: int, order: CellOrder) -> Iterator[Cell]:
    """Yield every (task, arm, trial) once, block by block (task, then trial)."""
    for block, (task, trial) in enumerate(product(tasks, range(1, trials + 1))):
        match order:
            case CellOrder.TASK_MAJOR:
                first = 0
            case CellOrder.ROTATED:
                first = block % len(arms)
            case _:
                assert_never(order)
        for arm in (*arms[first:], *arms[:first]):
            yield Cell(task=task, arm=arm, trial=trial)
