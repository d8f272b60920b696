"""What becomes of an attempt when something breaks, and what it leaves behind."""

from farm.model import (
    FaultKind,
)
from farm.model.keys import attempt_cleanup_key
from tests.builders.worker.doubles import FlakyBlobs, HookedSandbox, SilentStore, breaks_at
from tests.builders.worker.working import Make, Run, marked_processes
from worker.cell.recording import LineEnd
from worker.tasks import carry


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
