"""A worker that gets its tickets from RabbitMQ, with leases and all else in Redis."""

import os
from pathlib import Path

from farm.adapters.redis import connect
from farm.model import DrainKind, queue_of, sandbox_need
from farm.testing.coordination import an_order
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.farm import Farm
from tests.builders.worker.process import FolderStore, RealSweep, WorkerProcess
from tests.services.rabbitmq import RabbitServer
from tests.services.redis import RedisServer
from tests.services.waiting import wait_until

OURS = frozenset({sandbox_need("bubblewrap")})


def test_cells_run_from_a_queue_that_opens_later_also_when_rabbitmq_restarts_and_when_the_host_was_drained(
    own_redis: RedisServer, rabbitmq_server: RabbitServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path
) -> None:
    store, script = FolderStore(tmp_path / "store"), [{"answer": {"text": "ok"}}]
    farm = Farm(root=work_root, sandbox=bubblewrap, script=script, store=store, trials=4)  # type: ignore[arg-type]  # its shape
    real, exchange = RealSweep(farm, own_redis.url, rabbitmq_server.url), connect(own_redis.url)
    root, carrier = work_root / f"own-{os.urandom(4).hex()}", {"FARM_BROKER_URL": rabbitmq_server.url}
    with WorkerProcess(own_redis.url, store.url, root, tmp_path / "log", ("--slots", "1"), carrier) as one:
        one.wait_until_ready()
        exchange.queues.open(OURS, 600)
        real.send(0, queue_of(OURS))
        assert real.wait_for_outcome(0).is_usable
        rabbitmq_server.restart()
        real.send(1, queue_of(OURS))
        assert real.wait_for_outcome(1, 60).is_usable
        exchange.orders.give("host-1", an_order(1))
        wait_until(lambda: exchange.hosts.live()[0].order == "order-1")
        real.send(2, queue_of(OURS))
        exchange.orders.give("host-1", an_order(2, DrainKind.UNDRAIN))
        assert real.wait_for_outcome(2).is_usable
        assert "claim.refused" not in one.log.read_text()
        with own_redis.client() as client:
            assert list(client.scan_iter("farm:celery:cells*")) == []
