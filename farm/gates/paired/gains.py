"""What a candidate gained on each task: exact, over the runs that both arms measured."""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from farm.gates.exact import mean
from farm.gates.paired.policy import CORRECT
from farm.gates.pairs import ArmPair
from farm.gates.table import Row, Table
from farm.model import Direction


@dataclass(frozen=True, slots=True)
class Gains:
    """One pair of arms, run by run with the same task and trial."""

    planned: int
    """Pairs of runs in the plan: the denominator of what is covered."""
    measured: int
    by_task: Mapping[str, Fraction]
    """In the plan's order: the mean over the task's measured pairs of what the candidate gained; more is better."""
    missing: Mapping[str, int]
    """Why runs have no number, and how many."""

    @property
    def coverage(self) -> Fraction | None:
        return Fraction(self.measured, self.planned) if self.planned else None

    @property
    def mean(self) -> Fraction | None:
        """Average over tasks, each weighing the same."""
        return mean(tuple(self.by_task.values()))


def gains(table: Table, pair: ArmPair, metric: str) -> Gains:
    """Pair the runs of two arms; a run without a number takes its partner out with it, and is counted."""
    rows = {(row.task, row.trial, row.arm): row for row in table.rows if row.arm in {pair.candidate, pair.incumbent}}
    sign = _sign(table, metric)
    gained: dict[str, list[Fraction]] = {}
    missing, planned = Counter[str](), 0
    for task, trial, arm in rows:
        if arm != pair.candidate or (task, trial, pair.incumbent) not in rows:
            continue
        planned += 1
        both = (rows[task, trial, pair.candidate], rows[task, trial, pair.incumbent])
        values = [number_of(row, metric) for row in both]
        missing.update(_reasons(both, values))
        if values[0] is not None and values[1] is not None:
            gained.setdefault(task, []).append(sign * (values[0] - values[1]))
    by_task = {task.id: statistics.mean(gained[task.id]) for task in table.plan.tasks if task.id in gained}
    return Gains(planned, sum(map(len, gained.values())), by_task, dict(sorted(missing.items())))


def number_of(row: Row, metric: str) -> Fraction | None:
    """Give a row's number; None: it has none, and that is never zero."""
    if metric == CORRECT and metric not in row.metrics:
        if row.oracle is None or row.oracle.correct is None or row.scope is None:
            return None
        return Fraction(row.oracle.correct and row.scope.is_kept)
    measured = row.metrics.get(metric)
    if measured is None or measured.value is None or measured.problem is not None:
        return None
    return Fraction(measured.value)


def _sign(table: Table, metric: str) -> int:
    declared = next((one for one in table.plan.metrics if one.name == metric), None)
    return -1 if declared is not None and declared.direction is Direction.LOWER else 1


def _reasons(rows: Sequence[Row], values: Sequence[Fraction | None]) -> Iterator[str]:
    for row, value in zip(rows, values, strict=True):
        if value is not None:
            continue
        if row.unsettled is not None:
            yield row.unsettled.value
        else:
            yield f"{row.fault.kind.value} fault" if row.fault is not None else "not measured"
