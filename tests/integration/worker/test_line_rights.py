"""Who may run, stop and record an attempt, in a real sandbox, with everything else in memory."""

import time
from datetime import UTC, datetime

import pytest

from farm.model import (
    Close,
    CloseReason,
    Digest,
    FaultKind,
    Refusal,
    Settlement,
    StopReason,
    canonical_json,
)
from farm.model.keys import claim_key, close_key, settlement_key
from farm.testing.clock import FakeClock
from sandbox.errors import SandboxError
from tests.builders.worker.doubles import CountingSignals, FlakyBlobs, HookedRecords, HookedSandbox, LosingLeases
from tests.builders.worker.working import FAST, LONG, Make, Run, when_started, when_working
from worker.cell.ports import Timing
from worker.cell.recording import LineEnd


@pytest.mark.parametrize(
    ("reason", "detail"), [(StopReason.CANCEL, "cancelled"), (StopReason.DEADLINE, "stopped at the sweep's deadline")]
)
def test_a_stop_ends_the_session_and_keeps_its_partial_stream(
    farm: Make, run: Run, reason: StopReason, detail: str
) -> None:
    cell = farm({"say": "so far"}, LONG, timing=FAST)
    when_working(cell, lambda: cell.signals.order_stop(cell.sweep, reason))
    began = time.monotonic()
    assert run(cell) is LineEnd.RECORDED
    assert time.monotonic() - began < 10
    outcome = cell.outcome()
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.detail) == (FaultKind.CANCELLED, detail)
    assert b"so far" in cell.artifact("session.work.events")
    assert cell.result() is None
    assert cell.leftovers() == []


def test_what_breaks_while_a_cell_is_stopped_broke_because_of_it(farm: Make, run: Run) -> None:
    cell = farm(timing=FAST)
    signals = CountingSignals()
    cell.signals = signals

    def before(_: int, __: object) -> None:
        signals.order_stop(cell.sweep, StopReason.CANCEL)
        signals.wait_for_looks(2)
        raise SandboxError("killed on the way")

    cell.sandbox = HookedSandbox(cell.sandbox, before)
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.CANCELLED


def test_a_lost_lease_kills_the_cell_and_nothing_is_written(farm: Make, run: Run) -> None:
    cell = farm(LONG, timing=FAST)
    leases = LosingLeases(cell.leases)
    cell.leases = leases  # type: ignore[assignment]  # the rest is handed on

    def lose() -> None:
        leases.is_lost = True

    when_working(cell, lose)
    assert run(cell) is LineEnd.LOST
    assert list(cell.records.keys("sweeps/"))[-1].endswith("plan.json")
    assert [key for key in cell.records.keys("sweeps/") if key.endswith("outcome.json")] == []
    assert cell.leftovers() == []


def test_an_attempt_that_outlived_its_lease_in_an_outage_records_nothing_after_it(farm: Make, run: Run) -> None:
    clock = FakeClock()
    cell = farm(clock=clock, timing=Timing(lease_ttl_s=30.0, beat_s=5.0, poll_s=0.005))
    signals = CountingSignals()
    cell.signals = signals

    def before(number: int, _: object) -> None:
        if number == 2:  # the oracle
            clock.advance(31.0)  # no heartbeat came through meanwhile; the next one does
            signals.wait_for_looks(3)

    cell.sandbox = HookedSandbox(cell.sandbox, before)
    assert run(cell) is LineEnd.LOST
    assert [key for key in cell.records.keys("sweeps/") if key.endswith(("outcome.json", "cleanup.json"))] == []
    assert cell.result() is None


def test_a_second_ticket_of_the_same_attempt_is_refused(farm: Make, run: Run) -> None:
    cell = farm()
    assert run(cell) is LineEnd.RECORDED
    first = cell.outcome()
    assert run(cell) is LineEnd.REFUSED
    assert cell.outcome() == first


def test_an_attempt_that_somebody_else_claimed_in_the_store_is_left_alone(farm: Make, run: Run) -> None:
    cell = farm()
    cell.records.create(claim_key(cell.sweep, cell.ticket.cell, 1), b"{}\n")
    assert run(cell) is LineEnd.REFUSED
    assert cell.leases.live(cell.sweep) == ()


def test_no_claim_after_the_sweep_is_closed(farm: Make) -> None:
    cell = farm()
    close = Close(sweep=cell.sweep, reason=CloseReason.DEADLINE, closed_at=datetime(2026, 1, 1, tzinfo=UTC))
    cell.records.create(close_key(cell.sweep), canonical_json(close))
    line = cell.line()
    assert line.claim(cell.ticket) is Refusal.CLOSED
    line.close()


def test_a_cell_whose_sweep_was_closed_during_its_claim_is_handed_back_unworked(farm: Make, run: Run) -> None:
    cell = farm(timing=FAST)
    close = Close(sweep=cell.sweep, reason=CloseReason.UNFINISHED, closed_at=datetime(2026, 1, 1, tzinfo=UTC))

    def close_it(key: str) -> None:
        if key.endswith("claim.json"):
            cell.store.records.create(close_key(cell.sweep), canonical_json(close))

    cell.records = HookedRecords(cell.records, before=close_it)
    assert run(cell) is LineEnd.RECORDED
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.CANCELLED
    assert not [key for key in cell.records.keys("sweeps/") if "/results/" in key]


def test_the_fence_is_checked_just_before_the_record(farm: Make, run: Run) -> None:
    cell = farm()
    newer = cell.a_ticket(2)

    def before(number: int, _: object) -> None:
        if number == 2:  # the oracle: no heartbeat comes between here and the record
            cell.leases.announce(newer)

    cell.sandbox = HookedSandbox(cell.sandbox, before)
    assert run(cell) is LineEnd.LOST
    assert [key for key in cell.records.keys("sweeps/") if key.endswith(("outcome.json", "cleanup.json"))] == []


def test_a_store_that_stays_away_loses_the_attempt_when_the_lease_ends(farm: Make, run: Run) -> None:
    cell = farm(timing=FAST)
    leases = LosingLeases(cell.leases)
    cell.leases = leases  # type: ignore[assignment]  # the rest is handed on

    class Away(FlakyBlobs):
        def put(self, body: bytes) -> Digest:
            leases.is_lost = True
            return super().put(body)

    cell.blobs = Away(cell.store.blobs, failures=10_000)
    assert run(cell) is LineEnd.LOST
    assert cell.leftovers() == []


def test_an_outcome_after_the_settlement_is_kept_as_late_and_counts_for_nothing(farm: Make, run: Run) -> None:
    cell = farm()
    settlement = Settlement(
        sweep=cell.sweep,
        plan=cell.plan.digest,
        close=Digest.of(b""),
        cells=(),
        workers_settled=False,
        settled_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    when_started(cell, lambda: bool(cell.records.create(settlement_key(cell.sweep), canonical_json(settlement))))
    assert run(cell) is LineEnd.LATE
    assert cell.outcome().late
    assert cell.result() is None
