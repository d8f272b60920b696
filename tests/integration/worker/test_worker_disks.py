"""A worker that is killed while its cells have disks."""

import os
from pathlib import Path
from typing import Any

import pytest

from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.disks import loops, mounts
from tests.builders.worker.farm import SHORT, Farm
from tests.builders.worker.process import FolderStore, RealSweep, WorkerProcess
from tests.builders.worker.working import marked_processes
from tests.services.redis import RedisServer
from tests.services.waiting import wait_until

CAPPED = SHORT.model_copy(update={"disk_bytes": 16 << 20})
MARK = "9731.25"
SLEEPS = {"run": {"command": f"head -c 1000000 /dev/zero >big; : >$FARM_OUT/started; sleep {MARK}"}}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk of a fixed size")
def test_nothing_is_left_mounted_and_no_loop_device_once_a_killed_worker_has_started_again(
    own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path
) -> None:
    root = work_root / f"own-{os.urandom(4).hex()}"
    store: Any = FolderStore(tmp_path / "store")
    real = RealSweep(
        Farm(root=root, sandbox=bubblewrap, script=[SLEEPS], store=store, trials=2, limits=CAPPED), own_redis.url
    )
    log = tmp_path / "worker.log"
    with WorkerProcess(own_redis.url, store.url, root, log) as one:
        one.wait_until_ready()
        for index in range(2):
            real.send(index)
        wait_until(lambda: len(list(root.glob("disks/*/*/out/started"))) == 2)
        assert len(loops(root / "images")) == 2
        one.process.kill()
        wait_until(lambda: marked_processes(MARK) == [], 5)
    assert len(mounts(root)) == 2 * 2  # each slot's place for disks, and a disk in it
    with WorkerProcess(own_redis.url, store.url, root, log):
        wait_until(lambda: mounts(root) == [], 40)
        wait_until(lambda: loops(root / "images") == [], 10)
        wait_until(lambda: list(root.glob("disks/*")) == [], 10)
