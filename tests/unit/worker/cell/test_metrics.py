"""Metrics of a cell from its reports."""

from decimal import Decimal
from typing import Any

import pytest

from farm.model import (
    ExitKind,
    Measured,
    Metric,
    MetricSource,
    OracleFinding,
    ProcessExit,
    SessionReport,
    Usage,
)
from worker.cell.metrics import measure

ORACLE = OracleFinding(correct=True, numbers={"behaviours": 3, "share": 0.5})


def a_session(name: str = "work", **changes: Any) -> SessionReport:
    fields = {"exit": ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=2.5), "reason": "success", **changes}
    return SessionReport(name=name, **fields)


def a_metric(source: MetricSource, key: str, **changes: Any) -> Metric:
    return Metric(name="it", source=source, key=key, **changes)


def measured(metric: Metric, *sessions: SessionReport) -> Measured:
    (one,) = measure((metric,), sessions, ORACLE)
    return one


TWO = (
    a_session(
        "plan", tool_calls={"Bash": 2, "Read": 1}, usage=Usage(output_tokens=5), turns=1, cost_usd=Decimal("0.1")
    ),
    a_session("work", tool_calls={"Bash": 1}, usage=Usage(output_tokens=6), turns=4, cost_usd=Decimal("0.2")),
)


@pytest.mark.parametrize(
    ("source", "key", "value"),
    [
        (MetricSource.TOOL_CALLS, "Bash", 3),
        (MetricSource.TOOL_CALLS, "Read", 1),
        (MetricSource.TOOL_CALLS, "Edit", 0),
        (MetricSource.TOOL_CALLS, "*", 4),
        (MetricSource.USAGE, "output_tokens", 11),
        (MetricSource.SESSION, "turns", 5),
        (MetricSource.SESSION, "duration_s", 5.0),
        (MetricSource.SESSION, "cost_usd", 0.3),
        (MetricSource.ORACLE, "behaviours", 3),
        (MetricSource.ORACLE, "share", 0.5),
    ],
)
def test_numbers_are_summed_over_sessions(source: MetricSource, key: str, value: float) -> None:
    found = measured(a_metric(source, key), *TWO)
    assert (found.value, type(found.value), found.problem) == (value, type(value), None)


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (MetricSource.TOOL_CALLS, "Bash"),
        (MetricSource.TOOL_CALLS, "*"),
        (MetricSource.USAGE, "output_tokens"),
        (MetricSource.USAGE, "no_such_field"),
        (MetricSource.SESSION, "turns"),
        (MetricSource.SESSION, "cost_usd"),
        (MetricSource.SESSION, "no_such_field"),
        (MetricSource.ORACLE, "unheard_of"),
    ],
)
def test_a_number_that_one_session_did_not_report_is_none_and_never_zero(source: MetricSource, key: str) -> None:
    found = measured(a_metric(source, key), *TWO, a_session("check"))
    assert found.value is None
    assert found.problem


def test_without_a_session_there_is_no_number() -> None:
    assert measured(a_metric(MetricSource.TOOL_CALLS, "*")).value is None


def test_a_value_out_of_its_bounds_is_kept_with_a_problem() -> None:
    metric = a_metric(MetricSource.ORACLE, "behaviours", minimum=0, maximum=2)
    assert measured(metric) == Measured(name="it", value=3, problem="3 is above the maximum 2")
    low = a_metric(MetricSource.ORACLE, "share", minimum=1)
    assert measured(low).problem == "0.5 is below the minimum 1"
    exact = a_metric(MetricSource.ORACLE, "behaviours", minimum=3, maximum=3)
    assert measured(exact).problem is None
