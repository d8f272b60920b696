"""Settling and cleaning up while workers still run: one grace for both, and nothing under a live worker."""

from dataclasses import dataclass, field, replace

import pytest

from farm.model import (
    CellEvent,
    CloseReason,
    EventKind,
    FaultKind,
    Lease,
    StopReason,
    SweepId,
    Ticket,
)
from farm.model.keys import cleanup_key, result_key, settlement_key
from tests.builders.finalizing import PIN, Crash, DyingRecords, claim, run
from tests.builders.sweeps import Farm, a_plan, evidence, fault


def test_a_cancelled_sweep_stops_its_cells_and_says_what_became_of_each() -> None:
    farm = Farm(a_plan(trials=2))
    worker = claim(farm, 2)
    farm.cancel("no money")
    worker.finish(0, evidence())
    worker.finish(1, fault(FaultKind.CANCELLED))
    done = run(farm)
    settled = done.report.settlement
    assert [cell.unsettled for cell in settled.cells] == [None, "stopped", "never-started", "never-started"]
    assert (done.report.close.reason, done.report.close.detail) == (CloseReason.CANCELLED, "no money")
    assert (done.exit_code, done.report.cleanup.complete) == (5, True)
    assert farm.signals.stop_reason(farm.sweep) is None


def test_what_the_sweep_shared_is_gone_after_the_clean_up() -> None:
    farm = Farm(a_plan(trials=2))
    claim(farm, 1).finish(0, evidence())
    run(farm)
    assert farm.events.receive(farm.sweep, 0.0) == ()
    ticket = Ticket(sweep=farm.sweep, plan=farm.plan.digest, cell=farm.plan.cells[1].id, index=1, attempt=1)
    assert not isinstance(farm.leases.claim(ticket, "late", 1.0), Lease)


def test_a_worker_that_outlives_the_grace_is_left_alone_and_shown() -> None:
    farm = Farm(a_plan(trials=1))
    worker = claim(farm, 1)
    farm.hint(EventKind.FINISHED, 0, 1)
    before = farm.clock.monotonic()
    done = run(farm)
    assert 5.0 <= farm.clock.monotonic() - before < 6.0
    assert [cell.unsettled for cell in done.report.settlement.cells] == ["still-running", "never-started"]
    assert (done.report.settlement.workers_settled, done.report.cleanup.complete) == (False, False)
    assert farm.signals.stop_reason(farm.sweep) is StopReason.CANCEL
    assert done.report.table.lifecycle.cleanup_incomplete
    assert farm.leases.live(farm.sweep) == tuple(worker.held.values())
    claimed = CellEvent(kind=EventKind.CLAIMED, index=0, attempt=1)
    finished = CellEvent(kind=EventKind.FINISHED, index=0, attempt=1)
    assert farm.events.receive(farm.sweep, 0.0) == (claimed, finished)


def test_a_claim_without_an_outcome_counts_as_running_whatever_the_lease_book_says() -> None:
    farm = Farm(a_plan(trials=1))
    worker = claim(farm, 1)
    farm.wipe()
    before = farm.clock.monotonic()
    done = run(farm)
    assert 5.0 <= farm.clock.monotonic() - before < 6.0
    assert [cell.unsettled for cell in done.report.settlement.cells] == ["still-running", "never-started"]
    assert (done.report.settlement.workers_settled, done.report.cleanup.complete) == (False, False)
    assert worker.held


def test_a_worker_that_ends_within_the_grace_is_waited_for() -> None:
    farm = Farm(a_plan(trials=1))
    worker = claim(farm, 1)

    @dataclass
    class Watched:
        """A lease book in which the cell finishes while it is asked."""

        asked: int = 0
        kept: list[Lease] = field(default_factory=list)

        def __getattr__(self, name: str) -> object:
            return getattr(farm.leases, name)

        def live(self, sweep: SweepId) -> tuple[Lease, ...]:
            self.asked += 1
            if self.asked == 10:
                worker.finish(0, evidence())
            return farm.leases.live(sweep)

    done = run(farm, replace(farm.finalizer_ports, leases=Watched()))  # type: ignore[arg-type]  # a proxy
    assert [cell.unsettled for cell in done.report.settlement.cells] == [None, "never-started"]
    assert done.report.settlement.workers_settled


def test_a_late_outcome_changes_nothing() -> None:
    farm = Farm(a_plan(trials=1, gates=(PIN,)))
    worker = claim(farm, 1)
    first = run(farm)
    worker.record(worker.held[0], evidence())
    again = run(farm)
    assert again == first
    assert farm.records.read(result_key(farm.sweep, farm.plan.cells[0].id)) is not None


def test_an_outcome_that_lands_between_settlement_and_seal_is_not_counted() -> None:
    farm = Farm(a_plan(trials=1, gates=(PIN,)))
    worker = claim(farm, 1)
    with pytest.raises(Crash):
        run(farm, replace(farm.finalizer_ports, records=DyingRecords(farm.records, 3)))
    assert farm.records.read(settlement_key(farm.sweep)) is not None
    assert farm.records.read(cleanup_key(farm.sweep)) is None
    worker.finish(0, evidence())
    done = run(farm)
    assert [cell.unsettled for cell in done.report.settlement.cells] == ["still-running", "never-started"]
    assert done.report.verdicts[0].summary == "0 correct"
