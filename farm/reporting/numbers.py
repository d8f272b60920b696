"""Sums, medians and intervals over settled rows; what nobody measured is counted as unknown, never as zero."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from statistics import median as middle

from farm.gates.exact import mean, median, number
from farm.gates.health import arm_health
from farm.gates.table import Row, Table
from farm.model import Arm, Metric, Number, SessionReport, known_sum
from farm.reporting.medians import is_measured, summed, used
from farm.reporting.report import ArmLine, CellLine, MetricLine, Spend, Total
from farm.reporting.text import one_line
from farm.stats.proportion import wilson

_DIGITS = 6
"""Of an interval's ends: versions of a numeric library differ in the last bits, and a report's bytes must not."""


def arm_line(arm: Arm, rows: Sequence[Row], cells: Sequence[CellLine]) -> ArmLine:
    """Sum up one arm: what it measured by its rows, what it spent by every attempt of its cells."""
    spent = [row for row in rows if (row.attempts > 0 or row.sessions) and not row.reused]
    judged = [row.oracle.correct for row in rows if row.oracle is not None and row.oracle.correct is not None]
    verified = [row.verify.exit.is_zero for row in rows if row.verify is not None]
    durations = [row.duration_s for row in rows if row.duration_s is not None]
    health = arm_health(rows)
    interval = wilson(sum(judged), len(judged))
    return ArmLine(
        name=arm.name,
        role=arm.role,
        agent=f"{arm.agent.name} {one_line(arm.agent.version, most=60)}",
        cells=len(rows),
        measured=sum(is_measured(row) for row in rows),
        excluded=sum(row.fault is not None for row in rows),
        unsettled=sum(row.unsettled is not None for row in rows),
        health=health.status,
        health_words=health.words,
        judged=len(judged),
        correct=sum(judged),
        verified=len(verified),
        verify_passed=sum(verified),
        correct_low=None if interval is None else round(interval.low, _DIGITS),
        correct_high=None if interval is None else round(interval.high, _DIGITS),
        cost=_cost(cells),
        uncounted_usd=_uncounted(cells),
        agents_cost=_spend(map(_agents_cost, spent)) if _has_prices(spent) else None,
        cost_difference_usd=_difference(spent) if _has_prices(spent) else None,
        input_tokens=_total(summed(row, used(lambda usage: usage.input_tokens)) for row in spent),
        output_tokens=_total(summed(row, used(lambda usage: usage.output_tokens)) for row in spent),
        tool_calls=_total(summed(row, _calls) for row in spent),
        median_duration_s=middle(durations) if durations else None,
    )


def _has_prices(rows: Sequence[Row]) -> bool:
    return any(session.door is not None and session.door.is_priced for row in rows for session in row.sessions)


def _agents_cost(row: Row) -> Decimal | None:
    """Add up what a row's agents themselves say that they cost."""
    return known_sum(session.cost_usd for session in row.sessions)


def _difference(rows: Sequence[Row]) -> Decimal | None:
    both = [(_agents_cost(row), row.cost_usd) for row in rows]
    differences = [said - counted for said, counted in both if said is not None and counted is not None]
    return sum(differences, Decimal(0)) if differences else None


def _calls(session: SessionReport) -> int | None:
    return None if session.tool_calls is None else sum(session.tool_calls.values())


def _total(counts: Iterable[int | None]) -> Total:
    said = list(counts)
    known = [number for number in said if number is not None]
    return Total(total=sum(known) if known else None, known=len(known), unknown=len(said) - len(known))


def _cost(cells: Sequence[CellLine]) -> Spend:
    """Add up what is known; a cell with one unknown attempt is unknown, though what the others cost is in the sum."""
    began = [cell for cell in cells if cell.attempts]
    known = [attempt.cost_usd for cell in began for attempt in cell.attempts if attempt.cost_usd is not None]
    unknown = sum(cell.cost_usd is None for cell in began)
    return Spend(usd=sum(known, Decimal(0)) if known else None, known=len(began) - unknown, unknown=unknown)


def _uncounted(cells: Sequence[CellLine]) -> Decimal | None:
    attempts = [
        attempt for cell in cells for attempt in cell.attempts if attempt.fault is not None or not attempt.counted
    ]
    known = [attempt.cost_usd for attempt in attempts if attempt.cost_usd is not None]
    return sum(known, Decimal(0)) if known else None


def _spend(costs: Iterable[Decimal | None]) -> Spend:
    said = list(costs)
    known = [cost for cost in said if cost is not None]
    return Spend(usd=sum(known, Decimal(0)) if known else None, known=len(known), unknown=len(said) - len(known))


def metric_values(rows: Iterable[Row], metric: Metric) -> list[Number | None]:
    """List a metric's values over measured rows; None for each that has none, or one out of bounds."""
    found = [row.metrics.get(metric.name) for row in rows if is_measured(row)]
    return [None if measured is None or measured.problem is not None else measured.value for measured in found]


def metric_lines(table: Table) -> tuple[MetricLine, ...]:
    """Describe every metric of every task under every arm."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in table.rows:
        rows.setdefault((row.task, row.arm), []).append(row)
    return tuple(
        _metric_line(metric, task.id, arm.name, metric_values(rows.get((task.id, arm.name), ()), metric))
        for metric in table.plan.metrics
        for task in table.plan.tasks
        for arm in table.plan.arms
    )


def _metric_line(metric: Metric, task: str, arm: str, values: Sequence[Number | None]) -> MetricLine:
    known = [value for value in values if value is not None]
    exact = [Fraction(value) for value in known]
    average, centre = mean(exact), median(exact)
    return MetricLine(
        metric=metric.name,
        unit=metric.unit,
        direction=metric.direction,
        task=task,
        arm=arm,
        measured=len(known),
        unknown=len(values) - len(known),
        mean=None if average is None else number(average),
        median=None if centre is None else number(centre),
        least=min(known, default=None),
        most=max(known, default=None),
    )
