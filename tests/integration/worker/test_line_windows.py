"""A cell and its time window, in a real sandbox, with everything else in memory."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from farm.model import CheckLimits, FaultKind, Refusal
from farm.model.keys import claim_key
from farm.model.time_window import parse_window
from tests.builders.worker.farm import says
from tests.builders.worker.working import FAST, LONG, Make, Run
from worker.cell.recording import LineEnd
from worker.health.host_hours import HostHours

SECOND = CheckLimits(wall_s=1.0)


def window(seconds: float) -> str:
    """Write the window that is open from a while ago until `seconds` from now."""
    now = datetime.now(UTC)
    return f"{(now - timedelta(hours=1)).isoformat()}/{(now + timedelta(seconds=seconds)).isoformat()}"


def short(**more: Any) -> dict[str, Any]:
    """Expect little of a cell: a second each for its sessions, its check and its upload."""
    return {"durations": {"fix": {"base": 1.0}}, "upload_s": 1.0, **more}


def test_a_window_that_closes_ends_the_session_keeps_its_stream_and_defers_the_cell(farm: Make, run: Run) -> None:
    oracle = says("true").model_copy(update={"limits": CheckLimits(wall_s=0.1)})
    extra = short(windows=(window(5),), upload_s=0.1, durations={"fix": {"base": 0.1}})
    cell = farm({"say": "so far"}, LONG, timing=FAST, oracle=oracle, plan_extra=extra)
    began = time.monotonic()
    assert run(cell) is LineEnd.RECORDED
    assert time.monotonic() - began < 20
    outcome = cell.outcome()
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.detail) == (FaultKind.DEFERRED, "put off: its time window closes")
    assert b"so far" in cell.artifact("session.work.events")
    assert cell.result() is None
    assert cell.leftovers() == []


@pytest.mark.parametrize(
    ("hours", "extra"),
    [
        (HostHours(), short(windows=(window(2),))),
        (HostHours(), {"windows": (window(45),)}),
        (HostHours(parse_window(window(2))), short()),
        (HostHours(parse_window("instance 1h reserve 30m"), lambda: 1798.0), short()),
    ],
    ids=["sweep", "unknown duration", "host", "instance"],
)
def test_a_cell_that_would_outlast_its_window_is_not_claimed(
    farm: Make, hours: HostHours, extra: dict[str, Any]
) -> None:
    cell = farm(hours=hours, plan_extra=extra, oracle=says("true").model_copy(update={"limits": SECOND}))
    line = cell.line()
    assert line.claim(cell.ticket) is Refusal.WINDOW
    line.close()
    assert cell.leases.live(cell.sweep) == ()
    assert cell.records.read(claim_key(cell.sweep, cell.ticket.cell, 1)) is None


def test_a_cell_that_fits_its_window_is_measured(farm: Make, run: Run) -> None:
    cell = farm(
        hours=HostHours(parse_window("instance"), lambda: 60.0),
        plan_extra=short(windows=(window(600),)),
        oracle=says("true").model_copy(update={"limits": SECOND}),
    )
    assert run(cell) is LineEnd.RECORDED
    result = cell.result()
    assert result is not None
    assert result.fault is None
