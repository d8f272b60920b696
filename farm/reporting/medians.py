"""Each task under each arm: how often it was right, and the medians of what that took.

A median is over all measured cells. Where one of them does not say the number there is none: what the others say would
be of another sample.
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from statistics import median as middle
from typing import TypeVar

from farm.gates.exact import median, number
from farm.gates.table import Row, Table
from farm.model import Churn, Number, SessionReport, Usage, known_sum
from farm.model.base import Value

T = TypeVar("T")


class Medians(Value):
    """What one cell took, by the median; None: a measured cell does not say, or there is none."""

    tokens: Number | None = None
    """Read and written, cached ones included."""
    input_tokens: Number | None = None
    """All that was read, cached or not."""
    cached_input_tokens: Number | None = None
    cache_write_tokens: Number | None = None
    output_tokens: Number | None = None
    cost_usd: Decimal | None = None
    duration_s: float | None = None
    turns: Number | None = None
    files: Number | None = None
    added_lines: Number | None = None
    removed_lines: Number | None = None


class TaskLine(Value):
    """One task under one arm. What the visible check says and what the hidden one says stand apart."""

    task: str
    arm: str
    cells: int
    measured: int
    reused: int
    """Among the measured: taken from an earlier sweep."""
    verified: int
    """Measured cells whose visible check ran: the denominator of `verify_passed`."""
    verify_passed: int
    judged: int
    """Measured cells whose hidden check was completed: the denominator of `correct`."""
    correct: int
    medians: Medians

    @property
    def is_solved(self) -> bool:
        """Say whether every planned cell was measured and is right."""
        return self.cells > 0 and self.correct == self.cells


def task_lines(table: Table) -> tuple[TaskLine, ...]:
    """Describe every task under every arm that has cells of it."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in table.rows:
        rows.setdefault((row.task, row.arm), []).append(row)
    return tuple(
        _line(task.id, arm.name, rows[task.id, arm.name])
        for task in table.plan.tasks
        for arm in table.plan.arms
        if (task.id, arm.name) in rows
    )


def is_measured(row: Row) -> bool:
    """Say whether the row has evidence."""
    return row.fault is None and row.unsettled is None


def summed(row: Row, count: Callable[[SessionReport], int | None]) -> int | None:
    """Add up a row's sessions; one session that does not say makes the row unknown."""
    return known_sum(count(session) for session in row.sessions)


def used(pick: Callable[[Usage], int | None]) -> Callable[[SessionReport], int | None]:
    """Give what a session used, of the tokens that count."""
    return lambda session: None if session.metered_usage is None else pick(session.metered_usage)


def _line(task: str, arm: str, rows: Sequence[Row]) -> TaskLine:
    measured = [row for row in rows if is_measured(row)]
    checked = [row.verify.exit.is_zero for row in measured if row.verify is not None]
    judged = [row.oracle.correct for row in measured if row.oracle is not None and row.oracle.correct is not None]
    return TaskLine(
        task=task,
        arm=arm,
        cells=len(rows),
        measured=len(measured),
        reused=sum(row.reused for row in measured),
        verified=len(checked),
        verify_passed=sum(checked),
        judged=len(judged),
        correct=sum(judged),
        medians=_medians(measured),
    )


def _medians(rows: Sequence[Row]) -> Medians:
    costs = _whole(row.cost_usd for row in rows)
    durations = _whole(row.duration_s for row in rows)
    return Medians(
        tokens=_median(summed(row, used(_tokens)) for row in rows),
        input_tokens=_median(summed(row, used(lambda usage: usage.input_tokens)) for row in rows),
        cached_input_tokens=_median(summed(row, used(lambda usage: usage.cached_input_tokens)) for row in rows),
        cache_write_tokens=_median(summed(row, used(lambda usage: usage.cache_write_tokens)) for row in rows),
        output_tokens=_median(summed(row, used(lambda usage: usage.output_tokens)) for row in rows),
        cost_usd=None if costs is None else middle(costs),
        duration_s=None if durations is None else middle(durations),
        turns=_median(summed(row, lambda session: session.turns) for row in rows),
        files=_median(_changed(row, lambda churn: churn.files) for row in rows),
        added_lines=_median(_changed(row, lambda churn: churn.added_lines) for row in rows),
        removed_lines=_median(_changed(row, lambda churn: churn.removed_lines) for row in rows),
    )


def _changed(row: Row, count: Callable[[Churn], int | None]) -> int | None:
    return None if row.churn is None else count(row.churn)


def _tokens(usage: Usage) -> int | None:
    return known_sum((usage.input_tokens, usage.output_tokens))


def _whole(values: Iterable[T | None]) -> list[T] | None:
    """Give the values when there are any and none of them is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return known if known and len(known) == len(found) else None


def _median(values: Iterable[int | None]) -> Number | None:
    known = _whole(values)
    centre = None if known is None else median([Fraction(value) for value in known])
    return None if centre is None else number(centre)
