"""Faults 1 to 10: what happens to Redis."""

import os
import threading
import time
from collections.abc import Callable

import redis

from tests.faults.fault import Fault, Struck
from tests.faults.fleet import LEASE_S
from tests.faults.invariants import seen
from tests.faults.sweep import CELLS, Shape, Sweep
from tests.services.waiting import wait_until


def outlives(strike: Callable[[Sweep], Struck]) -> Callable[[Sweep], Struck]:
    """Add to a strike that no worker ends of it."""

    def both(sweep: Sweep) -> Struck:
        struck = strike(sweep)
        sweep.await_results(CELLS)
        assert [host.name for host in sweep.fleet.hosts.values() if not host.is_alive] == []
        return struck

    return both


def begun(sweep: Sweep, results: int = 4) -> Struck:
    """Let the sweep run for a moment, and note what stands."""
    sweep.coordinate()
    sweep.await_results(results)
    return Struck(seen(sweep))


def costs_no_attempt(sweep: Sweep) -> None:
    """Wait for all results, and see that no session had to be run again."""
    sweep.await_results(CELLS)
    assert sweep.attempts() == CELLS


def restarted_in_order(sweep: Sweep) -> Struck:
    struck = begun(sweep)
    sweep.fleet.redis.restart()
    costs_no_attempt(sweep)
    return struck


def killed(down_s: float) -> Callable[[Sweep], Struck]:
    def strike(sweep: Sweep) -> Struck:
        struck = begun(sweep)
        sweep.fleet.redis.process.kill()
        time.sleep(down_s)
        sweep.fleet.redis.process.start_again()
        return struck

    return strike


def down_longer_than_a_lease(sweep: Sweep) -> Struck:
    sweep.coordinate()
    sweep.await_sessions(8)
    sweep.fleet.redis.process.kill()
    wait_until(lambda: sweep.sleepers() == [], LEASE_S + 2)  # they fence themselves
    assert sweep.count("outcome") == 0
    struck = Struck(seen(sweep))
    sweep.fleet.redis.process.start_again()
    return struck


def loses_its_last_second(sweep: Sweep) -> Struck:
    struck = begun(sweep)
    sweep.fleet.redis.process.kill()
    (log,) = (sweep.fleet.folder / "redis" / "appendonlydir").glob("*.incr.aof")
    with log.open("r+b") as file:
        file.truncate(max(0, log.stat().st_size - 4000))
    sweep.fleet.redis.process.start_again()
    return struck


def wiped(sweep: Sweep) -> Struck:
    struck = begun(sweep)
    sweep.fleet.redis.flush()
    return struck


def read_only_for_a_while(sweep: Sweep) -> Struck:
    struck = begun(sweep)
    with sweep.fleet.redis.client() as client:
        client.slaveof("127.0.0.1", 1)
        time.sleep(1)
        client.slaveof()
    return struck


def out_of_memory_for_a_while(sweep: Sweep) -> Struck:
    struck = begun(sweep)
    with sweep.fleet.redis.client() as client:
        client.config_set("maxmemory", "1mb")
        time.sleep(1)
        client.config_set("maxmemory", "0")
    return struck


def disk_full_for_a_while(sweep: Sweep) -> Struck:
    """Its folder is a file system of its own, which something else fills."""
    struck = begun(sweep)
    ballast = sweep.fleet.folder / "redis" / "ballast"
    with ballast.open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError:
            pass
    with sweep.fleet.redis.client() as client:

        def is_refused() -> bool:
            try:
                client.set("farm:test", os.urandom(4000).hex())
            except redis.ResponseError as error:
                return "MISCONF" in str(error)
            return False

        wait_until(is_refused)
        ballast.unlink()
        wait_until(lambda: not is_refused())
        client.delete("farm:test")
        _written_anew(client)
    return struck


def _written_anew(client: redis.Redis) -> None:
    """Let it write its log anew, as one does whose disk was full: what it appended meanwhile may be holes."""
    client.bgrewriteaof()

    def is_done() -> bool:
        told = client.info("persistence")
        return not (told["aof_rewrite_in_progress"] or told["aof_rewrite_scheduled"])

    wait_until(is_done)


def paused(sweep: Sweep) -> Struck:
    struck = begun(sweep)
    with sweep.fleet.redis.client() as client:
        client.execute_command("CLIENT", "PAUSE", 1000, "ALL")
    costs_no_attempt(sweep)
    return struck


def blocked(sweep: Sweep) -> Struck:
    struck = begun(sweep)

    def sleep() -> None:
        with sweep.fleet.redis.client() as client:
            client.execute_command("DEBUG", "SLEEP", "1")

    sleeper = threading.Thread(target=sleep)
    sleeper.start()
    costs_no_attempt(sweep)
    sleeper.join()
    return struck


def may_evict(sweep: Sweep) -> Struck:
    """Whoever begins to coordinate refuses; the sweep that runs goes on."""
    struck = begun(sweep)
    with sweep.fleet.redis.client() as client:
        client.config_set("maxmemory", "1gb")
        client.config_set("maxmemory-policy", "allkeys-lru")
        refused = sweep.farm("coordinate", sweep.id)
        assert refused.wait(30) == 2
        assert "would evict tickets" in (sweep.fleet.folder / "farm.log").read_text()
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "0")
    return struck


ALL_LONG = Shape("all-long", nap_s=2.4)

FAULTS = (
    Fault(1, "redis-restarts", outlives(restarted_in_order)),
    Fault(2, "redis-is-killed-and-back", outlives(killed(0.2))),
    Fault(2, "redis-is-killed-and-down-a-while", outlives(killed(1.5))),
    Fault(3, "redis-is-down-longer-than-a-lease", outlives(down_longer_than_a_lease), ALL_LONG),
    Fault(4, "redis-loses-its-last-second", outlives(loses_its_last_second)),
    Fault(5, "redis-is-wiped", outlives(wiped)),
    Fault(6, "redis-is-read-only", outlives(read_only_for_a_while)),
    Fault(7, "redis-is-out-of-memory", outlives(out_of_memory_for_a_while)),
    Fault(8, "redis-has-a-full-disk", outlives(disk_full_for_a_while)),
    Fault(9, "redis-is-paused", outlives(paused)),
    Fault(9, "redis-is-blocked", outlives(blocked)),
    Fault(10, "redis-may-evict", outlives(may_evict)),
)
