"""What the farm survives: each part killed in the middle of a sweep, with everything real."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.builders.farm_command import Desk
from tests.builders.faulty import Bench, a_bench, descendants, eventually, processes
from tests.services.redis import RedisServer


@pytest.fixture
def bench(desk: Desk, own_redis: RedisServer) -> Bench:
    return a_bench(desk, redis_url=own_redis.url, trials=2, nap_s=2.5)


@pytest.fixture
def long_bench(desk: Desk, own_redis: RedisServer) -> Bench:
    """Lay out a sweep whose sessions outlast whatever is done to them."""
    return a_bench(desk, redis_url=own_redis.url, trials=2, nap_s=60.5)


def running_for_a_second(bench: Bench, count: int) -> None:
    eventually("the sessions run", lambda: len(bench.sleepers()) >= 2 * count)


def test_a_killed_worker_costs_an_attempt_and_nothing_else(bench: Bench) -> None:
    code, out = bench.farm("submit", "sweep.yaml")
    assert code == 0, out
    sweep = out.strip()
    with (
        bench.started("coordinate", sweep) as coordinator,
        bench.started("worker", "--slots", "1") as first,
        bench.started("worker", "--slots", "1"),
    ):
        running_for_a_second(bench, 2)
        doomed = descendants(first.pid)
        os.kill(first.pid, signal.SIGKILL)
        eventually(
            "no process of the killed worker is left",
            lambda: not doomed & {tree.pid for tree in processes()},
            limit_s=5,
        )
        assert coordinator.wait(timeout=90) == 0
    assert len(bench.records("results/*.json")) == 4
    faults = [json.loads(path.read_bytes())["fault"] for path in bench.records("attempts/*/*/outcome.json")]
    assert [fault["kind"] for fault in faults if fault] == ["lost"]
    assert bench.farm("finalize", sweep)[0] == 0
    assert "lost" in bench.records("report/report.html")[0].read_text()
    assert bench.farm("verify", sweep)[0] == 0


def test_a_killed_coordinator_is_resumed_and_nothing_is_run_twice(bench: Bench) -> None:
    sweep = bench.farm("submit", "sweep.yaml")[1].strip()
    with bench.started("worker", "--slots", "1"):
        with bench.started("coordinate", sweep) as coordinator:
            eventually("a first result", lambda: len(bench.records("results/*.json")) >= 1)
            os.kill(coordinator.pid, signal.SIGKILL)
        code, out = bench.farm("resume", sweep, "--slots", "0")
    assert code == 0, out
    assert len(bench.records("results/*.json")) == 4
    assert len(bench.records("attempts/*/*/claim.json")) == 4
    assert bench.claims_after_results() == []


def test_a_wiped_redis_loses_no_result(bench: Bench, own_redis: RedisServer) -> None:
    sweep = bench.farm("submit", "sweep.yaml")[1].strip()
    with bench.started("worker", "--slots", "1"), bench.started("coordinate", sweep) as coordinator:
        eventually("a first result", lambda: len(bench.records("results/*.json")) >= 1)
        own_redis.flush()
        assert coordinator.wait(timeout=90) == 0
    assert len(bench.records("results/*.json")) == 4
    assert bench.claims_after_results() == []
    assert bench.farm("finalize", sweep)[0] == 0


def test_a_wiped_redis_and_a_killed_coordinator_are_resumed(bench: Bench, own_redis: RedisServer) -> None:
    sweep = bench.farm("submit", "sweep.yaml")[1].strip()
    with bench.started("worker", "--slots", "1"):
        with bench.started("coordinate", sweep) as coordinator:
            eventually("a first result", lambda: len(bench.records("results/*.json")) >= 1)
            os.kill(coordinator.pid, signal.SIGKILL)
        own_redis.flush()
        code, out = bench.farm("resume", sweep, "--slots", "0")
    assert code == 0, out
    assert len(bench.records("results/*.json")) == 4
    assert bench.claims_after_results() == []


def test_an_interrupted_run_is_gone_within_five_seconds_and_resumes(desk: Desk) -> None:
    bench = a_bench(desk, redis_url=None, trials=1, nap_s=6.5)
    with bench.started("run", "sweep.yaml", "--slots", "2") as run:
        eventually("the sessions run", lambda: len(bench.sleepers()) >= 4)
        os.kill(run.pid, signal.SIGINT)
        assert run.wait(timeout=5) == 130
        assert bench.sleepers() == []
        eventually("nothing of the run is left", lambda: desk.processes() == [], limit_s=1)
    code, out = bench.farm("resume", bench.sweep(), "--slots", "2")
    assert code == 0, out
    assert len(bench.records("results/*.json")) == 2


def test_an_interrupted_run_stops_its_own_cells_and_no_other_hosts(long_bench: Bench) -> None:
    with long_bench.started("worker", "--slots", "1"), long_bench.started("run", "sweep.yaml", "--slots", "1") as run:
        eventually("both hosts run a session", lambda: len(long_bench.sleepers()) == 4)
        os.kill(run.pid, signal.SIGINT)
        assert run.wait(timeout=5) == 130
        assert len(long_bench.sleepers()) == 2
        stopped = [json.loads(path.read_bytes())["host"] for path in long_bench.records("attempts/*/*/outcome.json")]
        assert stopped == ["here"]


def test_a_second_interrupt_kills_at_once_what_does_not_stop_and_cancels(desk: Desk) -> None:
    bench = a_bench(desk, redis_url=None, trials=1, nap_s=60.5)
    with bench.started("run", "sweep.yaml", "--slots", "2") as run:
        eventually("the sessions run", lambda: len(bench.sleepers()) >= 4)
        stuck = [tree.pid for tree in processes() if "celery" in tree.command and tree.pid in descendants(run.pid)]
        for pid in stuck:
            os.kill(pid, signal.SIGSTOP)
        os.kill(run.pid, signal.SIGINT)
        eventually("it waits for its worker", lambda: _has_pending(stuck[0], signal.SIGTERM), limit_s=5)
        os.kill(run.pid, signal.SIGINT)
        eventually("nothing of the worker is left", lambda: bench.sleepers() == [], limit_s=1.5)
        assert run.wait(timeout=60) == 130
    assert len(bench.records("cancel.json")) == 1


def _has_pending(pid: int, number: signal.Signals) -> bool:
    lines = Path("/proc", str(pid), "status").read_text().splitlines()
    pending = next(int(line.split()[1], 16) for line in lines if line.startswith("ShdPnd:"))
    return bool(pending & 1 << number - 1)


def test_a_killed_run_leaves_no_process_and_resumes(desk: Desk) -> None:
    bench = a_bench(desk, redis_url=None, trials=1, nap_s=6.5)
    with bench.started("run", "sweep.yaml", "--slots", "2") as run:
        eventually("the sessions run", lambda: len(bench.sleepers()) >= 4)
        os.kill(run.pid, signal.SIGKILL)
        eventually("nothing of the run is left", lambda: desk.processes() == [] == bench.sleepers(), limit_s=5)
    code, out = bench.farm("resume", bench.sweep(), "--slots", "2")
    assert code == 0, out
    assert len(bench.records("results/*.json")) == 2


def test_a_cancelled_sweep_stops_and_settles(long_bench: Bench) -> None:
    sweep = long_bench.farm("submit", "sweep.yaml")[1].strip()
    with long_bench.started("worker", "--slots", "2"), long_bench.started("coordinate", sweep) as coordinator:
        eventually("the sessions run", lambda: len(long_bench.sleepers()) >= 4)
        code, out = long_bench.farm("cancel", sweep)
        assert code == 5, out
        eventually("every session is stopped", lambda: long_bench.sleepers() == [], limit_s=2)
        assert coordinator.wait(timeout=30) == 5
    settlement = json.loads(long_bench.records("settlement.json")[0].read_bytes())
    assert [cell["result"] for cell in settlement["cells"]] == [None] * 4
    assert long_bench.farm("verify", sweep)[0] == 0


def test_a_run_that_died_can_be_cancelled_and_settles(desk: Desk) -> None:
    bench = a_bench(desk, redis_url=None, trials=1, nap_s=60.5)
    with bench.started("run", "sweep.yaml", "--slots", "2") as run:
        eventually("the sessions run", lambda: len(bench.sleepers()) == 4)
        os.kill(run.pid, signal.SIGKILL)
        eventually("nothing of the run is left", lambda: desk.processes() == [], limit_s=5)
    code, out = bench.farm("cancel", bench.sweep())
    assert code == 5, out
    settlement = json.loads(bench.records("settlement.json")[0].read_bytes())
    assert [cell["unsettled"] for cell in settlement["cells"]] == ["still-running"] * 2
    assert bench.farm("resume", bench.sweep())[0] == 5
