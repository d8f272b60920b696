"""A time window that closes during a cell of a real worker, and the next one that finishes the sweep."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from farm.adapters import celery
from farm.adapters.redis import connect
from farm.adapters.system_clock import SystemClock
from farm.coordinator.effects import Deferral
from farm.coordinator.loop import Coordinator, CoordinatorEnd, EndKind
from farm.coordinator.ports import CoordinatorPorts
from farm.coordinator.shell import LeftOpen
from farm.coordinator.submit import submit
from farm.model import CheckLimits, FaultKind
from farm.model.keys import claim_key, close_key, outcome_key
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.farm import Farm, says
from tests.builders.worker.process import FolderStore, WorkerProcess
from tests.services.redis import RedisServer

OPEN_S = 9.0
SHUT_S = 7.0
NEEDS_S = 1.0 + 1.0 + 0.5


@pytest.fixture
def worker(
    own_redis: RedisServer, tmp_path: Path, work_root: Path, request: pytest.FixtureRequest
) -> Iterator[WorkerProcess]:
    """Start a worker, with the time window that the test's parameter names."""
    root, store_url = work_root / f"own-{os.urandom(4).hex()}", (tmp_path / "store").as_uri()
    extra = {"FARM_WINDOW": getattr(request, "param", "")}
    with WorkerProcess(own_redis.url, store_url, root, tmp_path / "worker.log", ("--slots", "1"), extra) as one:
        one.wait_until_ready()
        yield one


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def coordinated(farm: Farm, redis_url: str, holder: str, limit_s: float) -> CoordinatorEnd:
    exchange, until_s = connect(redis_url), time.monotonic() + limit_s
    ports = CoordinatorPorts(
        records=farm.records,
        blobs=farm.store.blobs,
        leases=exchange.leases,
        dispatcher=celery.CeleryDispatcher(celery.make_app(redis_url)),
        queues=exchange.queues,
        shares=exchange.shares,
        signals=exchange.signals,
        events=exchange.events,
        hosts=exchange.hosts,
        leadership=exchange.leadership,
        clock=SystemClock(),
    )
    return Coordinator(farm.sweep, holder, ports).run(lambda: time.monotonic() > until_s, lambda _: None)


def test_what_a_closing_window_defers_the_next_one_finishes(
    worker: WorkerProcess, own_redis: RedisServer, tmp_path: Path, work_root: Path, bubblewrap: Bubblewrap
) -> None:
    store: Any = FolderStore(tmp_path / "store")
    closes = datetime.now(UTC).timestamp() + OPEN_S
    awake = f"until [ $(date +%s) -gt {int(closes) + 1} ]; do sleep 0.1; done"
    farm = Farm(
        root=work_root,
        sandbox=bubblewrap,
        script=[{"say": "so far"}, {"run": {"command": awake}}, {"answer": {"text": "ok"}}],
        store=store,
        trials=2,
        oracle=says("true").model_copy(update={"limits": CheckLimits(wall_s=1.0)}),
        plan_extra={
            "windows": (f"{moment(0)}/{moment(closes)}", f"{moment(closes + SHUT_S)}/2999-01-01T00:00Z"),
            "durations": {"fix": {"base": 1.0}},
            "upload_s": 0.5,
        },
    )
    submit(farm.plan, 1, farm.records, "tester", SystemClock())
    first = coordinated(farm, own_redis.url, "first", 60)
    assert first == CoordinatorEnd(EndKind.LEFT_OPEN, None, LeftOpen(frozenset({Deferral.WINDOW}), 2, NEEDS_S))
    fault = farm.outcome().fault
    assert fault is not None
    assert (fault.kind, fault.detail) == (FaultKind.DEFERRED, "put off: its time window closes")
    assert b"so far" in farm.artifact("session.work.events")
    assert farm.result() is None
    while datetime.now(UTC).timestamp() < closes + SHUT_S:
        time.sleep(0.1)
    last = coordinated(farm, own_redis.url, "second", 60)
    assert (last.kind, worker.process.poll()) == (EndKind.CLOSED, None)
    assert farm.records.read(close_key(farm.sweep)) is not None
    result = farm.result()
    assert result is not None
    assert (result.attempt, result.fault) == (2, None)
    cells = [cell.id for cell in farm.plan.cells]
    found = {cell: [n for n in (1, 2, 3) if farm.records.read(outcome_key(farm.sweep, cell, n))] for cell in cells}
    assert found == {cells[0]: [1, 2], cells[1]: [1]}


@pytest.mark.parametrize("worker", ["2999-01-01T00:00Z/2999-01-02T00:00Z"], indirect=True)
def test_a_fleet_whose_hosts_are_all_closed_leaves_the_sweep_open_and_claims_nothing(
    worker: WorkerProcess, own_redis: RedisServer, tmp_path: Path, work_root: Path, bubblewrap: Bubblewrap
) -> None:
    store: Any = FolderStore(tmp_path / "store")
    farm = Farm(root=work_root, sandbox=bubblewrap, store=store, trials=3)
    submit(farm.plan, 1, farm.records, "tester", SystemClock())
    assert [host.left_s for host in connect(own_redis.url).hosts.live()] == [0.0]
    end = coordinated(farm, own_redis.url, "first", 60)
    assert end.left_open is not None
    assert (end.left_open.why, end.left_open.cells) == (frozenset({Deferral.WINDOW}), 3)
    assert farm.records.read(claim_key(farm.sweep, farm.plan.cells[0].id, 1)) is None
    assert worker.process.poll() is None
