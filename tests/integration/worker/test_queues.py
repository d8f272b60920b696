"""A worker takes from the queues whose needs its host offers, and from no other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from farm.adapters.redis import connect
from farm.model import queue_of, sandbox_need
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.farm import Farm
from tests.builders.worker.process import FolderStore, RealSweep, WorkerProcess
from tests.services.redis import RedisServer

OURS, OTHERS = frozenset({sandbox_need("bubblewrap")}), frozenset({sandbox_need("bubblewrap"), "provider nowhere"})
LONG_S = 60.0


@pytest.fixture
def real(own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path) -> RealSweep:
    store, script = FolderStore(tmp_path / "store"), [{"answer": {"text": "ok"}}]
    farm = Farm(root=work_root, sandbox=bubblewrap, script=script, store=store, trials=4)  # type: ignore[arg-type]  # its shape
    return RealSweep(farm, own_redis.url)


@contextmanager
def a_worker(real: RealSweep, tmp_path: Path, work_root: Path) -> Iterator[WorkerProcess]:
    store, root = (tmp_path / "store").as_uri(), work_root / f"own-{os.urandom(4).hex()}"
    with WorkerProcess(real.redis_url, store, root, tmp_path / "log", ("--slots", "1")) as one:
        one.wait_until_ready()
        yield one


def test_tickets_that_need_what_a_host_lacks_stay_for_another(
    real: RealSweep, own_redis: RedisServer, tmp_path: Path, work_root: Path
) -> None:
    queues = connect(own_redis.url).queues
    for needed in (OURS, OTHERS):
        queues.open(needed, LONG_S)
    real.send(0, queue_of(OTHERS))
    real.send(1, queue_of(OURS))
    with a_worker(real, tmp_path, work_root) as one:
        assert real.wait_for_outcome(1).is_usable
        real.send(2, queue_of(OURS))  # whoever takes a third one has passed the other queue by twice
        assert real.wait_for_outcome(2).is_usable
        assert "claim.refused" not in one.log.read_text()
    with own_redis.client() as client:
        assert client.llen(f"farm:celery:{queue_of(OTHERS)}") == 1


def test_a_worker_that_was_there_first_learns_of_a_queue_and_keeps_to_it_when_redis_is_wiped_or_restarts(
    real: RealSweep, own_redis: RedisServer, tmp_path: Path, work_root: Path
) -> None:
    queues = connect(own_redis.url).queues
    with a_worker(real, tmp_path, work_root):
        queues.open(OURS, LONG_S)
        real.send(0, queue_of(OURS))
        assert real.wait_for_outcome(0).is_usable
        own_redis.flush()
        real.leases.open_sweep(real.farm.sweep)
        queues.open(OURS, LONG_S)  # as the coordinator does every few seconds
        real.send(1, queue_of(OURS))
        assert real.wait_for_outcome(1).is_usable
        own_redis.restart()
        real.leases.open_sweep(real.farm.sweep)
        real.send(2, queue_of(OURS))
        assert real.wait_for_outcome(2).is_usable
