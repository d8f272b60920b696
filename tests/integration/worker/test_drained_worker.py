"""A drained host: its worker takes nothing more, and stays so, until it is undrained."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from farm.adapters.redis import connect
from farm.model import DrainKind, FaultKind, Host, Pin, queue_of, sandbox_need
from farm.testing.coordination import an_order
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.farm import Farm
from tests.builders.worker.process import FolderStore, RealSweep, WorkerProcess
from tests.services.redis import RedisServer
from tests.services.waiting import wait_until

OURS = frozenset({sandbox_need("bubblewrap")})


class Place:
    """A host, its farm, and a sweep whose cells run until somebody says otherwise."""

    def __init__(
        self,
        server: RedisServer,
        tmp_path: Path,
        bubblewrap: Bubblewrap,
        work_root: Path,
        nap_s: int = 3,
        **changes: object,
    ) -> None:
        self.root, self.tmp = work_root / f"own-{os.urandom(4).hex()}", tmp_path
        script = [{"run": {"command": f"touch /cell/out/started; sleep {nap_s}"}}, {"answer": {"text": "ok"}}]
        self.store = FolderStore(tmp_path / "store")
        farm = Farm(root=work_root, sandbox=bubblewrap, script=script, store=self.store, trials=4, **changes)  # type: ignore[arg-type]  # its shape
        self.real, self.exchange = RealSweep(farm, server.url), connect(server.url)
        self.exchange.queues.open(OURS, 600)

    @contextmanager
    def worker(self, **extra: str) -> Iterator[WorkerProcess]:
        words = ("--slots", "1")
        with WorkerProcess(self.real.redis_url, self.store.url, self.root, self.tmp / "log", words, extra) as one:
            self.id = f"host-1/{one.process.pid}"
            wait_until(lambda: any(host.id == self.id for host in self.exchange.hosts.live()), 40)
            yield one

    def host(self) -> Host:
        """Give what the last worker says; one that ended just before may still be listed beside it."""
        wait_until(lambda: any(host.id == self.id for host in self.exchange.hosts.live()))
        return next(host for host in self.exchange.hosts.live() if host.id == self.id)

    def order(self, number: int, kind: DrainKind) -> None:
        order = an_order(number, kind)
        self.exchange.orders.give("host-1", order)
        wait_until(lambda: self.host().order == order.id)

    def queued(self, server: RedisServer) -> int:
        with server.client() as client:
            return int(client.llen(f"farm:celery:{queue_of(OURS)}"))  # type: ignore[arg-type]  # not awaited

    def has_started(self) -> bool:
        return bool(list(self.root.glob("cells/*/*/out/started")))


@pytest.fixture
def place(own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path) -> Place:
    return Place(own_redis, tmp_path, bubblewrap, work_root)


def test_a_drained_host_finishes_its_cell_and_takes_no_other_until_it_is_undrained(
    place: Place, own_redis: RedisServer
) -> None:
    with place.worker() as one:
        place.real.send(0, queue_of(OURS))
        wait_until(place.has_started)
        place.order(1, DrainKind.DRAIN)
        place.real.send(1, queue_of(OURS))
        assert place.host().slots == 0
        assert place.real.wait_for_outcome(0).is_usable
        own_redis.flush()
        place.real.leases.open_sweep(place.real.farm.sweep)
        place.exchange.queues.open(OURS, 600)
        place.real.send(1, queue_of(OURS))
        place.host()
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(20) == 0
    with place.worker():
        assert (place.host().slots, place.host().draining) == (0, "drained by \u00e9@desk at 2026-01-01 00:00 UTC")
        own_redis.restart()
        place.exchange.queues.open(OURS, 600)
        place.real.leases.open_sweep(place.real.farm.sweep)
        place.host()
        assert place.queued(own_redis) == 1
        place.order(2, DrainKind.UNDRAIN)
        assert (place.host().slots, place.host().draining) == (1, None)
        assert place.real.wait_for_outcome(1).is_usable


def test_a_host_that_is_drained_now_hands_its_cell_back(
    own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path
) -> None:
    place = Place(own_redis, tmp_path, bubblewrap, work_root, nap_s=300)
    with place.worker():
        place.real.send(0, queue_of(OURS))
        wait_until(place.has_started)
        place.order(1, DrainKind.NOW)
        fault = place.real.wait_for_outcome(0).fault
        assert fault is not None
        assert (fault.kind, fault.detail) == (FaultKind.CANCELLED, "stopped because its host was drained")
        assert not place.real.has_result(0)
        place.real.send(1, queue_of(OURS))
        wait_until(lambda: place.host().busy == 0)
        assert place.queued(own_redis) == 1
        place.order(2, DrainKind.UNDRAIN)
        wait_until(lambda: bool(place.real.leases.live(place.real.farm.sweep)))


def test_three_cells_that_fail_for_the_hosts_reasons_drain_it_and_its_preflight_brings_it_back(
    own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path
) -> None:
    wrong = Pin(name="scripted", version="0", options={"scripts": {"*": [{"answer": {"text": "ok"}}]}})
    place = Place(own_redis, tmp_path, bubblewrap, work_root, agent=wrong)
    with place.worker() as one:
        for index in range(3):
            place.real.send(index, queue_of(OURS))
            fault = place.real.wait_for_outcome(index).fault
            assert fault is not None
            assert fault.kind is FaultKind.HOST
        wait_until(lambda: "host.suspended" in one.log.read_text())
        wait_until(lambda: "host.resumed" in one.log.read_text(), 60)
        wait_until(lambda: place.host().slots == 1)
        assert "this host has 'scripted' of the agents at version 1" in one.log.read_text()


def test_a_host_below_its_floor_says_so_and_takes_nothing(place: Place, own_redis: RedisServer) -> None:
    with place.worker(FARM_DISK_FLOOR_GIB="1000000"):
        assert place.host().slots == 0
        assert "below the 1e+06 GiB of FARM_DISK_FLOOR_GIB" in str(place.host().problem)
        place.real.send(0, queue_of(OURS))
        beaten = place.host().seen_at
        wait_until(lambda: place.host().seen_at > beaten)
        assert place.queued(own_redis) == 1
