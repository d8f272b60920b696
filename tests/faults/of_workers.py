"""Faults 11 to 18, 22, 23 and 45: workers that die, freeze, come back, or are told to end; tickets that come again."""

import os
import signal
from collections.abc import Callable

from tests.builders.faulty import processes
from tests.faults.fault import Fault, Struck
from tests.faults.fleet import LEASE_S, Host
from tests.faults.invariants import Expected, seen
from tests.faults.of_redis import begun
from tests.faults.points import Armed
from tests.faults.sweep import CELLS, Shape, Sweep
from tests.services.waiting import wait_until

NAPS = Shape("middling", nap_s=0.6)


def is_gone(pids: set[int]) -> bool:
    return not pids & {tree.pid for tree in processes()}


def worker_killed(sweep: Sweep) -> Struck:
    sweep.coordinate()
    sweep.await_sessions(8)
    host = sweep.fleet.hosts["b"]
    tree = host.tree()
    struck = Struck(seen(sweep))
    host.process.kill()
    wait_until(lambda: is_gone(tree), 3)
    return struck


def slot_killed(how: signal.Signals) -> Callable[[Sweep], Struck]:
    def strike(sweep: Sweep) -> Struck:
        sweep.coordinate()
        sweep.await_sessions(8)
        struck = Struck(seen(sweep))
        for host in sweep.fleet.hosts.values():
            os.kill(host.children()[0], how)
        sweep.await_results(CELLS)
        assert all(host.is_alive for host in sweep.fleet.hosts.values())
        return struck

    return strike


def tickets_lost_with_a_frozen_worker(sweep: Sweep) -> Struck:
    """It takes tickets from Redis while it is frozen, and is killed before it has looked at them."""
    host = sweep.fleet.hosts["b"]
    host.send(signal.SIGSTOP)
    sweep.coordinate()
    sweep.await_results(4)
    host.process.kill()
    return Struck(seen(sweep))


def holder_back_from_the_dead(sweep: Sweep) -> Struck:
    """Its leases have expired meanwhile, and its cells were given to others."""
    sweep.coordinate()
    sweep.await_sessions(8)
    host = sweep.fleet.hosts["b"]
    host.send(signal.SIGSTOP)
    before = sweep.attempts()
    wait_until(lambda: sweep.attempts() > max(before, CELLS - 4), 4 * LEASE_S + 10)
    struck = Struck(seen(sweep))
    host.send(signal.SIGCONT)
    return struck


def told_to_end(how: Callable[[Host], None]) -> Callable[[Sweep], Struck]:
    def strike(sweep: Sweep) -> Struck:
        sweep.coordinate()
        sweep.await_sessions(8)
        struck = Struck(seen(sweep))
        host = sweep.fleet.hosts["b"]
        tree = host.tree()
        how(host)
        host.process.wait(20)
        wait_until(lambda: is_gone(tree), 3)
        return struck

    return strike


def a_storm(host: Host) -> None:
    for _ in range(10):
        host.process.send_signal(signal.SIGTERM)


def to_the_group(host: Host) -> None:
    os.killpg(host.pid, signal.SIGTERM)


def cold_quit_before_the_record(sweep: Sweep) -> Struck:
    sweep.fleet.points.arm(Armed("before outcome", "wait", sweep.id))
    sweep.coordinate()
    slot = sweep.await_waiting()
    struck = Struck(seen(sweep))
    host = next(host for host in sweep.fleet.hosts.values() if slot in host.tree())
    host.process.send_signal(signal.SIGQUIT)
    sweep.fleet.points.disarm()
    host.process.wait(20)
    return struck


def slot_ends(point: str, action: str = "exit") -> Callable[[Sweep], Struck]:
    """Let two slots end at a point."""

    def strike(sweep: Sweep) -> Struck:
        sweep.fleet.points.arm(Armed(point, action, sweep.id), 2)
        sweep.coordinate()
        sweep.await_fired(2)
        return Struck(seen(sweep))

    return strike


def ends_after_upload(sweep: Sweep) -> Struck:
    sweep.fleet.points.arm(Armed("after blob", "exit"), 2)
    sweep.coordinate()
    sweep.await_fired(2)
    return Struck(seen(sweep))


def tickets_doubled(sweep: Sweep) -> Struck:
    struck = begun(sweep, 1)
    dispatcher = sweep.fleet.exchange.dispatcher
    for index in range(CELLS):
        for _ in range(20 if index < 5 else 2):
            dispatcher.send(sweep.ticket(index))
    sweep.await_results(CELLS)
    assert sweep.attempts() == CELLS
    return struck


def tickets_again_while_running(sweep: Sweep) -> Struck:
    sweep.coordinate()
    sweep.await_sessions(8)
    dispatcher, leases = sweep.fleet.exchange.dispatcher, sweep.fleet.exchange.leases
    for _ in range(5):
        for lease in leases.live(sweep.id):
            dispatcher.send(sweep.ticket(lease.index, lease.attempt))
    sweep.await_results(CELLS)
    assert sweep.attempts() == CELLS
    return Struck(seen(sweep))


def poison(sweep: Sweep) -> Struck:
    """One cell ends whoever claims it, each time; it is given up, and the others are run."""
    cell = sweep.plan.cells[5].id
    sweep.fleet.points.arm(Armed("after claim", "exit", sweep.id, cell), 9)
    sweep.coordinate()
    sweep.await_fired(3)
    struck = Struck(seen(sweep), Expected(lost=frozenset({cell})))
    sweep.await_results(CELLS)
    assert sweep.fleet.points.fired() == 3
    return struck


FAULTS = (
    Fault(11, "worker-is-killed", worker_killed, NAPS),
    Fault(12, "slot-is-killed", slot_killed(signal.SIGKILL), NAPS),
    Fault(12, "slot-crashes", slot_killed(signal.SIGSEGV), NAPS),
    Fault(13, "tickets-die-with-a-frozen-worker", tickets_lost_with_a_frozen_worker),
    Fault(14, "holder-is-back-from-the-dead", holder_back_from_the_dead, Shape("slow", nap_s=1.0)),
    Fault(15, "sigterm-storm", told_to_end(a_storm), NAPS),
    Fault(15, "sigterm-to-the-group", told_to_end(to_the_group), NAPS),
    Fault(16, "cold-quit-before-the-record", cold_quit_before_the_record),
    Fault(17, "slot-ends-after-an-upload", ends_after_upload),
    Fault(17, "slot-ends-before-the-record", slot_ends("before outcome")),
    Fault(18, "slot-ends-between-outcome-and-result", slot_ends("after outcome")),
    Fault(18, "slot-ends-between-result-and-hint", slot_ends("after result")),
    Fault(18, "slot-ends-between-claim-and-start", slot_ends("after claim", "kill")),
    Fault(18, "slot-ends-between-lease-and-claim", slot_ends("before claim", "segv")),
    Fault(22, "tickets-are-doubled", tickets_doubled),
    Fault(23, "tickets-come-again-while-running", tickets_again_while_running, NAPS),
    Fault(45, "poison-cell", poison),
)
