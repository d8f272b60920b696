"""Finalizing, over ports in memory: once, in order, and the same again after any crash."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from farm.adapters.memory import MemoryStore
from farm.errors import IntegrityError, SpecError, TransientError
from farm.finalizer.finalize import Finalized, finalize, read_finalized
from farm.model import (
    Cancel,
    CloseReason,
    Fault,
    FaultKind,
    Lease,
    SweepId,
    canonical_json,
)
from farm.model.keys import cancel_key, close_key, outcome_key, result_key, seal_key, settlement_key
from farm.reporting.build import build
from tests.builders.finalizing import PIN, CountingGate, Crash, DyingRecords, a_farm, claim, gates, render, run
from tests.builders.sealed import LOST, a_sealed_sweep
from tests.builders.sweeps import Farm, a_plan, evidence


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
    assert [report.counted[cell.id] for cell in farm.plan.cells] == [1, 2, 1, 1, 1, 1]
    root = f"sweeps/{farm.sweep}/"
    body = farm.records.read(seal_key(farm.sweep))
    assert body is not None
    names = ["cleanup", "close", "open", "plan", "report/a", "report/report", "settlement", "verdicts/counting"]
    assert [key for key in sorted(farm.records.bodies) if key.startswith(root) and "/attempts/" not in key] == sorted(
        [f"{root}{name}.{'md' if name == 'report/report' else 'json'}" for name in names]
        + [seal_key(farm.sweep)]
        + [result_key(farm.sweep, cell.id) for cell in farm.plan.cells]
    )


def test_a_file_of_somebody_else_among_the_attempts_is_not_settled() -> None:
    plain, farm = run(a_farm()), a_farm()
    farm.records.create(f"sweeps/{farm.sweep}/attempts/{farm.plan.cells[0].id}/notes.txt", b"mine")
    assert run(farm).report.settlement == plain.report.settlement


def test_what_was_found_of_a_worker_that_died_is_shown_with_its_attempt() -> None:
    store = MemoryStore()
    sweep = a_sealed_sweep(store)
    (cell,) = [one for one in build(read_finalized(sweep, store.records).report).cells if one.cell == LOST.id]
    found = {line.attempt: [store.blobs.get(one.digest) for one in line.artifacts] for line in cell.attempts}
    assert found == {n: [f"events of {LOST.id} {n}".encode()] for n in (1, 2)}


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
