"""The plan's metrics of one cell, from what its sessions and its oracle reported.

A number that nobody reported is None with its reason, never 0; a tool that was never called, in sessions that all
counted their calls, is a measured 0.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import assert_never

from farm.model import Measured, Metric, MetricSource, Number, OracleFinding, SessionReport

_ANY_TOOL = "*"


class _MissingError(Exception):
    """Nobody reported the number; the message says who did not."""


def measure(
    metrics: tuple[Metric, ...], sessions: tuple[SessionReport, ...], oracle: OracleFinding
) -> tuple[Measured, ...]:
    """Measure every metric; a value out of its bounds is kept, with a problem."""
    return tuple(_measured(metric, sessions, oracle) for metric in metrics)


def _measured(metric: Metric, sessions: tuple[SessionReport, ...], oracle: OracleFinding) -> Measured:
    try:
        value = _value(metric, sessions, oracle)
    except _MissingError as error:
        return Measured(name=metric.name, value=None, problem=str(error))
    return Measured(name=metric.name, value=value, problem=_bounds_problem(metric, value))


def _value(metric: Metric, sessions: tuple[SessionReport, ...], oracle: OracleFinding) -> Number:
    match metric.source:
        case MetricSource.TOOL_CALLS:
            return _total(metric.key, ((one.name, _calls(one, metric.key)) for one in sessions))
        case MetricSource.USAGE:
            return _total(metric.key, ((one.name, _usage(one, metric.key)) for one in sessions))
        case MetricSource.SESSION:
            return _total(metric.key, ((one.name, _session(one, metric.key)) for one in sessions))
        case MetricSource.ORACLE:
            if metric.key not in oracle.numbers:
                raise _MissingError(f"the oracle reported no {metric.key!r}")
            return oracle.numbers[metric.key]
        case _:
            assert_never(metric.source)


def _total(key: str, parts: Iterable[tuple[str, Number | Decimal | None]]) -> Number:
    total: Number | Decimal | None = None
    for name, part in parts:
        if part is None:
            raise _MissingError(f"session {name!r} reported no {key!r}")
        total = part if total is None else _sum(total, part)
    if total is None:
        raise _MissingError("no session ran")
    return float(total) if isinstance(total, Decimal) else total


def _sum(one: Number | Decimal, other: Number | Decimal) -> Number | Decimal:
    if isinstance(one, Decimal) or isinstance(other, Decimal):
        return Decimal(one) + Decimal(other)
    return one + other


def _calls(session: SessionReport, tool: str) -> int | None:
    calls = session.tool_calls
    if calls is None:
        return None
    return sum(calls.values()) if tool == _ANY_TOOL else calls.get(tool, 0)


def _usage(session: SessionReport, field: str) -> int | None:
    counted: int | None = getattr(session.metered_usage, field, None)
    return counted


def _session(session: SessionReport, field: str) -> Number | Decimal | None:
    match field:
        case "turns":
            return session.turns
        case "duration_s":
            return session.exit.wall_s
        case "cost_usd":
            return session.metered_cost_usd
        case _:
            return None


def _bounds_problem(metric: Metric, value: Number) -> str | None:
    if metric.minimum is not None and value < metric.minimum:
        return f"{value} is below the minimum {metric.minimum}"
    if metric.maximum is not None and value > metric.maximum:
        return f"{value} is above the maximum {metric.maximum}"
    return None
