"""What becomes of an attempt when something breaks, and what it leaves behind."""

from pathlib import Path

import pytest

from farm.adapters.memory import MemoryEvents
from farm.errors import SpecError, TransientError
from farm.model import AttemptCleanup, CellEvent, EventKind, FaultKind, Refusal, SweepId, parse_record
from farm.model.keys import attempt_cleanup_key
from tests.builders.worker.doubles import FlakyBlobs, HookedRecords, HookedSandbox, SilentStore, SlowLeases, breaks_at
from tests.builders.worker.farm import Farm
from tests.builders.worker.working import FAST, Make, Run, marked_processes
from worker.cell.recording import LineEnd
from worker.health.floor import Floor
from worker.staging.using import drop_one
from worker.tasks import carry
from worker.trees.removing import remove_tree


def cleanup_of(cell: Farm) -> str:
    return attempt_cleanup_key(cell.sweep, cell.ticket.cell, 1)


def test_a_sandbox_that_can_not_start_is_the_hosts_fault_and_earns_another_attempt(farm: Make, run: Run) -> None:
    cell = farm()
    cell.sandbox = HookedSandbox(cell.sandbox, breaks_at(1))
    assert run(cell) is LineEnd.RECORDED
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, fault.detail) == (FaultKind.HOST, "run 1 could not be started")
    assert cell.result() is None
    cell.leases.announce(cell.a_ticket(2))
    assert run(cell, 2) is LineEnd.RECORDED
    assert cell.result() is not None
    assert cell.leftovers() == []


def test_a_verifier_that_does_not_start_is_run_once_more(farm: Make, run: Run) -> None:
    cell = farm()
    cell.sandbox = HookedSandbox(cell.sandbox, breaks_at(2))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is True


def test_a_verifier_that_never_starts_is_an_oracle_fault(farm: Make, run: Run) -> None:
    cell = farm()
    cell.sandbox = HookedSandbox(cell.sandbox, breaks_at(2, 3))
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.ORACLE


def test_a_store_that_comes_back_within_the_lease_costs_nothing(farm: Make, run: Run) -> None:
    cell = farm()
    cell.blobs = FlakyBlobs(cell.store.blobs, failures=2)
    assert run(cell) is LineEnd.RECORDED
    assert cell.outcome().is_usable


def test_a_store_that_does_not_answer_while_staging_is_the_hosts_fault(farm: Make, run: Run) -> None:
    cell = farm()
    cell.blobs = SilentStore(cell.store.blobs, failures=0)
    assert run(cell) is LineEnd.RECORDED
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.HOST


def test_a_folder_that_can_not_be_made_is_the_hosts_fault_and_no_bug(farm: Make, work_root: Path) -> None:
    cell = farm()
    cell.root = work_root / "without-an-area"
    line = cell.line()
    (area,) = cell.root.glob("cells/*")
    area.rmdir()
    assert carry(line, cell.ticket) is LineEnd.RECORDED
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, cell.result()) == (FaultKind.HOST, None)
    assert cell.leases.live(cell.sweep) == ()


def test_a_bug_of_ours_is_recorded_and_not_swallowed(farm: Make) -> None:
    def before(_: int, __: object) -> None:
        raise ZeroDivisionError("ours")

    cell = farm()
    cell.sandbox = HookedSandbox(cell.sandbox, before)
    line = cell.line()
    assert carry(line, cell.ticket) is LineEnd.RECORDED
    line.close()
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, fault.detail) == (FaultKind.BUG, "ZeroDivisionError: ours")
    assert cell.leases.live(cell.sweep) == ()
    assert cell.leftovers() == []


def test_a_clean_up_that_failed_beside_a_bug_is_recorded_as_not_done(farm: Make) -> None:
    cell = farm()

    def before(_: int, __: object) -> None:
        (folder,) = cell.root.glob("cells/*/*")
        folder.rename(cell.root / "moved")
        folder.write_text("what can't be removed as a folder is")
        raise ZeroDivisionError("ours")

    cell.sandbox = HookedSandbox(cell.sandbox, before)
    line = cell.line()
    assert carry(line, cell.ticket) is LineEnd.RECORDED
    record = parse_record(AttemptCleanup, cell.records.read(cleanup_of(cell)) or b"", "cleanup.json")
    assert not record.done
    assert "is no folder" in (record.problem or "")
    line.close()
    remove_tree(cell.root / "moved")


def test_a_clean_up_after_a_bug_is_recorded_as_done_once_it_was_seen(farm: Make) -> None:
    def before(_: int, __: object) -> None:
        raise ZeroDivisionError("ours")

    cell = farm()
    cell.sandbox = HookedSandbox(cell.sandbox, before)
    line = cell.line()
    carry(line, cell.ticket)
    line.close()
    assert parse_record(AttemptCleanup, cell.records.read(cleanup_of(cell)) or b"", "cleanup.json").done


CLAIM_BREAKS = [
    TransientError("the store is away"),
    SpecError("the bucket is gone"),
    OSError(28, "no space left"),
]


@pytest.mark.parametrize("error", CLAIM_BREAKS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("place", ["claim.json", "close.json"])
def test_a_claim_that_breaks_at_the_store_is_a_refusal_and_holds_no_lease(
    farm: Make, place: str, error: Exception
) -> None:
    def breaks(key: str) -> None:
        if key.endswith(place):
            raise error

    cell = farm()
    cell.records = HookedRecords(cell.records, before=breaks, at_read=breaks)
    line = cell.line()
    assert carry(line, cell.ticket) is LineEnd.REFUSED
    line.close()
    assert cell.leases.live(cell.sweep) == ()


def test_a_bug_at_the_claim_holds_no_lease(farm: Make) -> None:
    def breaks(_key: str) -> None:
        raise ZeroDivisionError("ours")

    cell = farm()
    cell.records = HookedRecords(cell.records, before=breaks)
    line = cell.line()
    with pytest.raises(ZeroDivisionError):
        carry(line, cell.ticket)
    line.close()
    assert cell.leases.live(cell.sweep) == ()


def test_a_hint_that_redis_refuses_stops_no_attempt(farm: Make, run: Run) -> None:
    class Refusing(MemoryEvents):
        def publish(self, sweep: SweepId, event: CellEvent) -> None:
            raise SpecError(f"{sweep} may not be written: {event.kind}")

    cell = farm()
    cell.events = Refusing(cell.clock)
    assert run(cell) is LineEnd.RECORDED


def test_a_cell_is_told_to_be_finished_after_its_record_and_before_its_clean_up(farm: Make, run: Run) -> None:
    cell = farm()
    told: list[EventKind] = []

    class Watching(MemoryEvents):
        def publish(self, sweep: SweepId, event: CellEvent) -> None:
            told.append(event.kind)
            if event.kind is EventKind.FINISHED:
                assert cell.result() is not None
                assert cell.leftovers() != []
                assert cell.records.read(attempt_cleanup_key(sweep, cell.ticket.cell, 1)) is None

    cell.events = Watching(cell.clock)
    assert run(cell) is LineEnd.RECORDED
    assert told == [EventKind.CLAIMED, EventKind.FINISHED]
    assert cell.leftovers() == []


def test_a_heartbeat_on_its_way_does_not_bring_a_released_lease_back(farm: Make, run: Run) -> None:
    cell = farm(timing=FAST)
    leases = SlowLeases(cell.leases)
    cell.leases = leases  # type: ignore[assignment]  # the rest is handed on

    def before(key: str) -> None:
        if key.endswith("cleanup.json"):
            leases.hold_the_next()

    cell.records = HookedRecords(cell.records, before)
    assert run(cell) is LineEnd.RECORDED
    assert cell.leases.live(cell.sweep) == ()


def test_the_clean_up_is_recorded_and_the_lease_given_back(farm: Make, run: Run) -> None:
    deep = "cd /cell/out; mkdir -p $(yes d/ | head -n 900 | tr -d '\\n')"
    cell = farm({"run": {"command": f"mkdir shut; touch shut/in; chmod 0 shut; {deep}"}})
    assert run(cell) is LineEnd.RECORDED
    body = cell.records.read(attempt_cleanup_key(cell.sweep, cell.ticket.cell, 1))
    assert body is not None
    assert b'"done":true' in body
    assert cell.leases.live(cell.sweep) == ()
    assert cell.leftovers() == []
    kinds = [event.kind for event in cell.events.receive(cell.sweep, 0.1)]
    assert kinds == ["claimed", "finished"]


def test_a_daemon_does_not_outlive_its_session(farm: Make, run: Run) -> None:
    mark = "8641.25"
    cell = farm({"spawn": {"command": f"exec sleep {mark}"}}, {"sleep": 0.2})
    run(cell)
    assert marked_processes(mark) == []


def test_a_cell_is_not_begun_below_the_floor_of_the_disk_and_is_when_there_is_room(farm: Make, run: Run) -> None:
    cell = farm(floor=Floor(disk_bytes=1 << 60))
    line = cell.line()
    assert line.claim(cell.ticket) is Refusal.FULL
    line.close()
    assert cell.leases.live(cell.sweep) == ()
    cell.floor = Floor(disk_bytes=1, inodes=1)
    assert run(cell) is LineEnd.RECORDED


def test_what_a_host_is_to_blame_for_is_told_to_its_worker_and_so_is_a_cell_that_ends_well(
    farm: Make, run: Run
) -> None:
    cell = farm()
    cell.sandbox = HookedSandbox(cell.sandbox, breaks_at(1))
    run(cell)
    streak = cell.fitness.ends.streak()
    assert (streak.length, streak.last, streak.ended_well) == (1, "run 1 could not be started", 0)
    cell.leases.announce(cell.a_ticket(2))
    run(cell, 2)
    assert (cell.fitness.ends.streak().length, cell.fitness.ends.streak().ended_well) == (0, 1)


def test_a_template_is_in_use_while_its_cell_runs_and_no_longer(farm: Make, run: Run) -> None:
    cell, kept = farm(), list[bool]()
    while drop_one(cell.root / "templates"):
        pass  # what other cells left here is nobody's now
    cell.sandbox = HookedSandbox(cell.sandbox, lambda *_: kept.append(not drop_one(cell.root / "templates")))
    assert run(cell) is LineEnd.RECORDED
    assert kept == [True, True]
    assert drop_one(cell.root / "templates")
