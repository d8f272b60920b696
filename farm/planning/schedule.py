"""What a plan's order makes of a fleet's time, computed from expected durations before anything is paid."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from farm.errors import SpecError
from farm.model import Cell, CellOrder, Plan
from farm.planning.cells import Ordering, order_cells

_COMPARED = (CellOrder.TASK_MAJOR, CellOrder.ROTATED, CellOrder.PACKED)


@dataclass(frozen=True, slots=True)
class Simulation:
    """How long a plan's cells would take on a fleet, in each order."""

    slots: int
    cells: int
    """Those that would be run."""
    guessed: int
    """How many of them are taken to last as long as they may, because nobody knows better."""
    bound_s: float
    """No order is faster: the longest cell, or all of them spread evenly."""
    orders: Mapping[CellOrder, float]
    """Each order's makespan under the plan's own dispatch."""
    waves_s: float
    """Task by task, so many cells at once as there are slots, the next ones when all of them have ended."""


def simulate(plan: Plan, slots: int, skipped: frozenset[int] = frozenset()) -> Simulation:
    """Play the plan's cells but the `skipped` on so many slots; raise SpecError where that can't be."""
    ahead = plan.dispatch.ahead
    if ahead is not None and ahead < slots:
        raise SpecError(f"dispatch.ahead is {ahead}, so {slots} slots would never all be used; name at most {ahead}")
    left_out = {plan.cells[index].id for index in skipped}
    by_order = {
        order: [cell for cell in _ordered(plan, order) if cell.id not in left_out] for order in (*_COMPARED, plan.order)
    }
    by_task = [[_lasts_s(plan, cell) for cell in cells] for _, cells in groupby(by_order[_COMPARED[0]], _task)]
    lasts = [one for task in by_task for one in task]
    return Simulation(
        slots=slots,
        cells=len(lasts),
        guessed=sum(plan.typical_s(cell) is None for cell in by_order[plan.order]),
        bound_s=lower_bound_s(lasts, slots),
        orders={
            order: makespan_s([_lasts_s(plan, cell) for cell in cells], slots, ahead)
            for order, cells in by_order.items()
        },
        waves_s=sum(waves_s(task, slots) for task in by_task),
    )


def makespan_s(lasts_s: Sequence[float], slots: int, ahead: int | None = None) -> float:
    """Play cells in order: a free slot takes the next that is fewer than `ahead` places after the first unfinished."""
    running, ended = list[tuple[float, int]](), set[int]()
    now_s, sent, fold = 0.0, 0, 0
    while sent < len(lasts_s) or running:
        while sent < len(lasts_s) and len(running) < slots and (ahead is None or sent < fold + ahead):
            heapq.heappush(running, (now_s + lasts_s[sent], sent))
            sent += 1
        now_s, index = heapq.heappop(running)
        ended.add(index)
        while fold in ended:
            ended.remove(fold)
            fold += 1
    return now_s


def waves_s(lasts_s: Sequence[float], slots: int) -> float:
    """Play cells in waves of `slots`, each of which ends with its longest."""
    return sum(max(lasts_s[first : first + slots]) for first in range(0, len(lasts_s), slots))


def lower_bound_s(lasts_s: Sequence[float], slots: int) -> float:
    """Give what no order can undercut."""
    return max(max(lasts_s, default=0.0), sum(lasts_s) / slots)


def _ordered(plan: Plan, order: CellOrder) -> Sequence[Cell]:
    if order is plan.order or not plan.cells:
        return plan.cells
    tasks, arms = [task.id for task in plan.tasks], [arm.name for arm in plan.arms]
    return list(order_cells(tasks, arms, plan.trials, Ordering(order, plan.seed or 0, plan.sessions_s)))


def _task(cell: Cell) -> str:
    return cell.task


def _lasts_s(plan: Plan, cell: Cell) -> float:
    known_s = plan.typical_s(cell)
    return plan.sessions_s(cell) if known_s is None else known_s
