"""Faults 19 to 21, 43 and 44: the coordinator, the finalizer, and a person's word."""

import os
import signal
from collections.abc import Callable

from farm import bootstrap
from farm.audit import verify
from farm.cli.drive import write_cancel
from farm.cli.finishing import load_gate
from farm.finalizer.finalize import read_finalized
from farm.model.keys import cancel_key, seal_key
from farm.reporting.render import render
from tests.faults.fault import Fault, Struck
from tests.faults.invariants import Expected, seen
from tests.faults.of_redis import begun
from tests.faults.points import Armed
from tests.faults.sweep import CELLS, Shape, Sweep
from tests.services.waiting import wait_until

CANCELLED = Expected(is_cancelled=True)
BEAT_AND_TWO_S = 2.4


def coordinator_ends(point: str) -> Callable[[Sweep], Struck]:
    """Let it end in the middle of its dispatch, and start another."""

    def strike(sweep: Sweep) -> Struck:
        cell = sweep.plan.cells[9].id
        sweep.fleet.points.arm(Armed(point, "exit", sweep.id, cell))
        first = sweep.coordinate()
        first.join(30)
        assert first.exitcode == 70
        struck = Struck(seen(sweep))
        _succeed(sweep)
        sweep.await_results(CELLS)
        assert sweep.attempts() == CELLS
        return struck

    return strike


def _succeed(sweep: Sweep) -> None:
    """Start another coordinator once the lead of the one before has run out."""
    with sweep.fleet.redis.client() as client:
        sweep.wait("the lead runs out", lambda: not client.exists(f"farm:lead:{sweep.id}"))
    sweep.coordinate()


def second_coordinator(sweep: Sweep) -> Struck:
    struck = begun(sweep, 2)
    first = sweep.coordinator
    second = sweep.coordinate()
    second.join(20)
    assert "another coordinator leads" in str(sweep.words())
    sweep.coordinator = first
    return struck


def first_coordinator_back(sweep: Sweep) -> Struck:
    """It was frozen for longer than its lead; another leads when it is back, and it gives in."""
    struck = begun(sweep, 2)
    first = sweep.coordinator
    assert first is not None
    assert first.pid is not None
    os.kill(first.pid, signal.SIGSTOP)
    _succeed(sweep)
    os.kill(first.pid, signal.SIGCONT)
    first.join(20)
    assert first.exitcode is not None
    return struck


def finalizer_killed_in_each_phase(sweep: Sweep) -> Struck:
    struck = begun(sweep, CELLS)
    assert sweep.end().get("end") == "closed"
    for point in ("before settlement", "after settlement", "after sweep's cleanup", "after report", "before seal"):
        sweep.fleet.points.arm(Armed(point, "kill", sweep.id))
        finalizer = sweep.finalizer()
        finalizer.join(20)
        assert finalizer.exitcode == -signal.SIGKILL, point
    sweep.fleet.points.arm(Armed("after seal", "kill", sweep.id))
    sweep.finalizer().join(20)
    body = sweep.records.read(seal_key(sweep.id))
    assert sweep.finalize() == 0
    assert sweep.records.read(seal_key(sweep.id)) == body
    store = sweep.fleet.store()
    found = verify(store, sweep.id, load_gate, lambda: render(read_finalized(sweep.id, store.records).report))
    assert found.flaws == ()
    return struck


def cancelled_before_any_claim(sweep: Sweep) -> Struck:
    cancel(sweep)
    sweep.coordinate()
    return Struck(seen(sweep), CANCELLED, "cancelled", 5)


def cancelled_while(point: str) -> Callable[[Sweep], Struck]:
    """Let a slot wait at a point while the sweep is cancelled."""

    def strike(sweep: Sweep) -> Struck:
        sweep.fleet.points.arm(Armed(point, "wait", sweep.id))
        sweep.coordinate()
        sweep.await_waiting()
        sweep.await_sessions(4)
        struck = Struck(seen(sweep), CANCELLED, "cancelled", 5)
        order = sweep.farm("cancel", sweep.id)
        wait_until(lambda: sweep.records.read(cancel_key(sweep.id)) is not None)
        wait_until(lambda: sweep.sleepers() == [], BEAT_AND_TWO_S)
        sweep.fleet.points.disarm()
        assert order.wait(30) == 5
        return struck

    return strike


def cancelled_when_done(sweep: Sweep) -> Struck:
    """What is done wins: a sweep whose every cell has its result has nothing left to stop."""
    struck = begun(sweep, CELLS)
    assert sweep.end().get("close") == "complete"
    cancel(sweep)
    return struck


def cancelled_while_all_workers_are_frozen(sweep: Sweep) -> Struck:
    """Nobody hears the word; it is in the store, for whoever is back."""
    sweep.coordinate()
    sweep.await_sessions(8)
    struck = Struck(seen(sweep), CANCELLED, "cancelled", 5)
    for host in sweep.fleet.hosts.values():
        host.send(signal.SIGSTOP)
    order = sweep.farm("cancel", sweep.id)
    assert order.wait(30) == 5
    for host in sweep.fleet.hosts.values():
        host.send(signal.SIGCONT)
    wait_until(lambda: sweep.sleepers() == [], BEAT_AND_TWO_S)
    return struck


def cancel(sweep: Sweep) -> None:
    write_cancel(sweep.id, "a test's word", sweep.records, bootstrap.clock().now())


LONG = Shape("long", nap_s=9.0)

FAULTS = (
    Fault(19, "coordinator-ends-before-a-ticket", coordinator_ends("before send")),
    Fault(19, "coordinator-ends-after-a-ticket", coordinator_ends("after send")),
    Fault(20, "second-coordinator", second_coordinator),
    Fault(20, "first-coordinator-is-back", first_coordinator_back, Shape("slow", nap_s=1.0)),
    Fault(21, "finalizer-is-killed-in-each-phase", finalizer_killed_in_each_phase),
    Fault(43, "cancelled-before-any-claim", cancelled_before_any_claim),
    Fault(43, "cancelled-during-a-claim", cancelled_while("before claim"), LONG),
    Fault(43, "cancelled-during-a-start", cancelled_while("after claim"), LONG),
    Fault(
        43, "cancelled-during-an-upload", cancelled_while("before outcome"), Shape("one-ends", nap_s=9.0, odd_nap_s=0.3)
    ),
    Fault(43, "cancelled-when-done", cancelled_when_done),
    Fault(44, "cancelled-while-all-workers-are-frozen", cancelled_while_all_workers_are_frozen, LONG),
)
