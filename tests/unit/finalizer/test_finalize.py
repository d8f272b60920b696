"""Finalizing, over ports in memory: once, in order, and the same again after any crash."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pytest
from pydantic import JsonValue

from farm.errors import IntegrityError, SpecError, TransientError
from farm.finalizer.finalize import Finalized, finalize, read_finalized
from farm.finalizer.ports import FinalizerPorts
from farm.gates.protocol import Gate, Judgement
from farm.gates.table import Table
from farm.model import (
    Cancel,
    CellEvent,
    CloseReason,
    Decision,
    EventKind,
    Fault,
    FaultKind,
    Lease,
    Pin,
    StopReason,
    SweepId,
    Ticket,
    canonical_json,
)
from farm.model.keys import cancel_key, cleanup_key, close_key, outcome_key, result_key, seal_key, settlement_key
from farm.ports import Records
from farm.reporting.report_input import ReportInput
from tests.builders.sweeps import Farm, Worker, a_plan, evidence, fault

PIN = Pin(name="counting", version="1", options={"least": 1})


class CountingGate:
    """Passes when enough cells are correct."""

    name = "counting"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        return options

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        correct = sum(row.oracle is not None and row.oracle.correct is True for row in table.rows)
        enough = correct >= int(str(policy["least"]))
        return Judgement(
            decision=Decision.PASS if enough else Decision.FAIL,
            summary=f"{correct} correct",
            checks=(),
            findings={"rows": len(table.rows), "errors": list(table.lifecycle.errors)},
        )


def gates(name: str) -> Gate:
    assert name == "counting"
    return CountingGate()


def render(report: ReportInput) -> Mapping[str, bytes]:
    lines = [f"{row.cell} {row.attempts} {row.unsettled} {row.cleanup_problem}" for row in report.table.rows]
    verdicts = [verdict.summary for verdict in report.verdicts]
    return {"report.md": "\n".join(lines + verdicts).encode(), "a.json": b"{}"}


@dataclass
class Crash(Exception):  # noqa: N818 (not an error of ours: the machine went dead)
    at: int


@dataclass
class DyingRecords:
    """Records whose n-th creation is the last thing that happens: before it is done, or just after."""

    records: Records
    left: int
    after: bool = False

    def create(self, key: str, body: bytes) -> bool:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Crash(self.left)
        done = self.records.create(key, body)
        if self.left == 0:
            raise Crash(self.left)
        return done

    def read(self, key: str) -> bytes | None:
        return self.records.read(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self.records.keys(prefix)


def run(farm: Farm, ports: FinalizerPorts | None = None) -> Finalized:
    return finalize(farm.sweep, ports or farm.finalizer_ports, gates, render)


def a_farm(**changes: object) -> Farm:
    """A sweep that ran to its end: one cell lost its first worker, another never had a usable outcome."""
    farm = Farm(a_plan(trials=3, gates=(PIN,), **changes))

    def find(ticket: Ticket) -> object:
        if (ticket.index, ticket.attempt) == (1, 1):
            return fault(FaultKind.HOST)
        return fault(FaultKind.TASK) if ticket.index == 4 else evidence()

    farm.run(farm.works(find))  # type: ignore[arg-type]  # evidence or fault
    return farm


def claim(farm: Farm, count: int) -> Worker:
    """Start the first `count` cells, and leave them running."""
    worker = Worker(farm)
    for index, cell in enumerate(farm.plan.cells[:count]):
        farm.leases.open_sweep(farm.sweep)
        ticket = Ticket(sweep=farm.sweep, plan=farm.plan.digest, cell=cell.id, index=index, attempt=1)
        assert worker.claim(ticket)
    return worker


def test_a_complete_sweep_is_settled_judged_reported_and_sealed() -> None:
    farm = a_farm()
    done = run(farm)
    report = done.report
    assert (done.exit_code, report.close.reason) == (0, CloseReason.COMPLETE)
    assert [cell.cell for cell in report.settlement.cells] == [cell.id for cell in farm.plan.cells]
    assert (report.settlement.workers_settled, report.cleanup.complete) == (True, True)
    assert [row.attempts for row in report.table.rows] == [1, 2, 1, 1, 1, 1]
    assert report.table.rows[4].fault == Fault(kind=FaultKind.TASK, detail="a task fault")
    assert [verdict.summary for verdict in report.verdicts] == ["5 correct"]
    assert [len(report.outcomes[cell.id]) for cell in farm.plan.cells] == [1, 2, 1, 1, 1, 1]
    root = f"sweeps/{farm.sweep}/"
    body = farm.records.read(seal_key(farm.sweep))
    assert body is not None
    names = ["cleanup", "close", "open", "plan", "report/a", "report/report", "settlement", "verdicts/counting"]
    assert [key for key in sorted(farm.records.bodies) if key.startswith(root) and "/attempts/" not in key] == sorted(
        [f"{root}{name}.{'md' if name == 'report/report' else 'json'}" for name in names]
        + [seal_key(farm.sweep)]
        + [result_key(farm.sweep, cell.id) for cell in farm.plan.cells]
    )


def test_doing_it_again_changes_nothing() -> None:
    farm = a_farm()
    first = run(farm)
    stored = dict(farm.records.bodies)
    farm.clock.advance(1000)
    assert run(farm) == first
    assert read_finalized(farm.sweep, farm.records) == first
    assert farm.records.bodies == stored


def test_a_sealed_sweep_gets_no_new_file_from_a_newer_farm() -> None:
    farm = a_farm()
    first = run(farm)
    stored = dict(farm.records.bodies)
    again = finalize(farm.sweep, farm.finalizer_ports, gates, lambda report: {**render(report), "new.txt": b"new"})
    assert again == first
    assert farm.records.bodies == stored


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_crash_at_any_record_is_taken_up_by_the_next_run(*, after: bool, is_cancelled: bool) -> None:
    pure = set[tuple[bytes | None, ...]]()
    for nth in range(1, 30):
        farm = a_farm() if not is_cancelled else Farm(a_plan(trials=2, gates=(PIN,)))
        if is_cancelled:
            farm.cancel()
        dying = DyingRecords(farm.records, nth, after=after)
        try:
            run(farm, replace(farm.finalizer_ports, records=dying))
        except Crash:
            farm.clock.advance(3600)
        else:
            break
        torn = dict(farm.records.bodies)
        done = run(farm)
        assert done.exit_code == (5 if is_cancelled else 0)
        assert farm.records.bodies.items() >= torn.items(), "what stood was kept"
        once = dict(farm.records.bodies)
        assert run(farm) == done
        assert farm.records.bodies == once
        pure.add(tuple(farm.records.read(f"sweeps/{farm.sweep}/report/{name}") for name in ("a.json", "report.md")))
    else:
        raise AssertionError("the finalizer never got through")
    assert len(pure) == 1
    assert nth > 5


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


def test_two_finalizers_at_once_agree() -> None:
    farm = a_farm()
    first = list[Finalized]()

    @dataclass
    class Beaten:
        """Records in which another finalizer gets everything done just before the n-th record is created."""

        left: int

        def create(self, key: str, body: bytes) -> bool:
            self.left -= 1
            if self.left == 0:
                farm.clock.advance(10)
                first.append(run(farm))
            return farm.records.create(key, body)

        def read(self, key: str) -> bytes | None:
            return farm.records.read(key)

        def keys(self, prefix: str) -> Iterator[str]:
            return farm.records.keys(prefix)

    for nth in range(1, 7):
        farm, first = a_farm(), []
        second = run(farm, replace(farm.finalizer_ports, records=Beaten(nth)))
        assert first == [second]


def test_an_unfinished_sweep_can_be_finalized_by_a_person() -> None:
    farm = Farm(a_plan(trials=2))
    claim(farm, 1).finish(0, evidence())
    done = run(farm)
    assert done.report.close.reason is CloseReason.UNFINISHED
    assert done.report.close.detail == "finalized with 3 of 4 cells open"


def test_a_sweep_whose_last_result_came_without_a_coordinator_is_complete() -> None:
    farm = Farm(a_plan(trials=1))
    worker = claim(farm, 2)
    worker.finish(0, evidence())
    worker.finish(1, evidence())
    done = run(farm)
    assert (done.report.close.reason, done.exit_code, done.report.verdicts) == (CloseReason.COMPLETE, 0, ())


def test_the_close_that_stands_is_kept() -> None:
    farm = a_farm()
    closed = farm.records.read(close_key(farm.sweep))
    cancel = Cancel(sweep=farm.sweep, reason="late", cancelled_at=farm.clock.now())
    farm.records.create(cancel_key(farm.sweep), canonical_json(cancel))
    assert run(farm).report.close.reason is CloseReason.COMPLETE
    assert farm.records.read(close_key(farm.sweep)) == closed


def test_a_silent_lease_book_writes_no_settlement() -> None:
    farm = Farm(a_plan(trials=1))

    class Silent:
        def close_sweep(self, sweep: SweepId) -> None:
            farm.leases.close_sweep(sweep)

        def live(self, sweep: SweepId) -> tuple[Lease, ...]:
            raise TransientError(f"no answer about {sweep}")

    with pytest.raises(TransientError):
        run(farm, replace(farm.finalizer_ports, leases=Silent()))  # type: ignore[arg-type]  # a part of one
    assert farm.records.read(settlement_key(farm.sweep)) is None
    assert run(farm).report.settlement.workers_settled


def test_what_cannot_be_cleaned_within_the_grace_is_recorded() -> None:
    farm = a_farm()

    class Stuck:
        def __getattr__(self, name: str) -> object:
            return getattr(farm.leases, name)

        def forget(self, sweep: SweepId) -> None:
            raise TransientError(f"cannot forget {sweep}")

    done = run(farm, replace(farm.finalizer_ports, leases=Stuck()))  # type: ignore[arg-type]  # a proxy
    assert done.report.cleanup.complete is False
    assert done.report.cleanup.problems == (f"the lease book was not cleaned up: cannot forget {farm.sweep}",)
    assert done.report.table.lifecycle.cleanup_incomplete


def test_another_version_of_the_gate_is_refused() -> None:
    farm = a_farm()

    class Newer(CountingGate):
        version = "2"

    with pytest.raises(SpecError, match="pins gate 'counting' at version 1, and 2 is installed"):
        finalize(farm.sweep, farm.finalizer_ports, lambda _name: Newer(), render)
    assert run(farm).exit_code == 0


@pytest.mark.parametrize("which", ["outcome", "result"])
def test_a_record_that_changed_since_the_settlement_is_told(which: str) -> None:
    farm = a_farm()
    with pytest.raises(Crash):
        run(farm, replace(farm.finalizer_ports, records=DyingRecords(farm.records, 1, after=True)))
    cell = farm.plan.cells[2].id
    key = outcome_key(farm.sweep, cell, 1) if which == "outcome" else result_key(farm.sweep, cell)
    farm.records.bodies[key] += b"\n"
    with pytest.raises(IntegrityError, match=cell):
        run(farm)


def test_an_unknown_sweep_is_the_person_s_to_change() -> None:
    farm = Farm(a_plan())
    with pytest.raises(SpecError, match=r"plan\.json"):
        finalize(SweepId("nobody-000000000000.1"), farm.finalizer_ports, gates, render)
