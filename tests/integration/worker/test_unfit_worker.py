"""A sandbox whose death can't be proven: its worker takes nothing more, and says so."""

import os
import signal
from pathlib import Path

import pytest

from farm.adapters.redis import connect
from farm.model import AttemptCleanup, FaultKind, Limits, Refusal, parse_record
from farm.model.keys import attempt_cleanup_key
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.errors import SandboxUnhealthyError
from tests.builders.sandbox_trees import children_of
from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import Farm
from tests.builders.worker.process import FolderStore, RealSweep, WorkerProcess
from tests.builders.worker.working import Make
from tests.services.redis import RedisServer
from tests.services.waiting import wait_until
from worker.cell.recording import LineEnd
from worker.tasks import carry


def undying(at: int) -> object:
    def before(number: int, _: object) -> None:
        if number == at:
            raise SandboxUnhealthyError("the init is not dead")

    return before


@pytest.mark.parametrize("at", [1, 2], ids=["session", "verifier"])
def test_a_guest_that_may_still_live_faults_its_host_and_keeps_its_folder(farm: Make, at: int, work_root: Path) -> None:
    cell = farm()
    cell.root = work_root / f"unfit-{at}"
    cell.sandbox = HookedSandbox(cell.sandbox, undying(at))  # type: ignore[arg-type]  # a hook
    line, neighbour = cell.line(), cell.line(1)
    assert carry(line, cell.ticket) is LineEnd.RECORDED
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, fault.detail) == (FaultKind.HOST, "the init is not dead")
    assert len(cell.sandbox.runs) == at
    key = attempt_cleanup_key(cell.sweep, cell.ticket.cell, 1)
    cleanup = parse_record(AttemptCleanup, cell.records.read(key) or b"", key)
    assert (cleanup.done, cleanup.problem) == (False, "the init is not dead")
    assert cell.fitness.problem == "the init is not dead"
    cell.leases.announce(cell.a_ticket(2))
    for slot in (line, neighbour):
        assert slot.claim(cell.a_ticket(2)) is Refusal.UNFIT
    for slot in (line, neighbour):
        slot.close()
    assert len(cell.leftovers()) == 1


def is_spawner(pid: int) -> bool:
    return b"/spawner" in Path(f"/proc/{pid}/cmdline").read_bytes()


def spawners(pid: int) -> list[int]:
    """The spawners of `pid` and of what it forked: each is a child of the process that waits for it."""
    found = []
    for child in children_of(pid):
        found += children_of(child) if is_spawner(child) else spawners(child)
    return found


def test_a_spawner_that_stands_still_leaves_the_other_tickets_to_other_workers(
    own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path
) -> None:
    root = work_root / f"own-{os.urandom(4).hex()}"
    store = FolderStore(tmp_path / "store")
    brief = Limits(wall_s=2.0, output_bytes=1 << 16)
    script = [{"run": {"command": "touch /cell/out/started; sleep 60"}}]
    farm = Farm(root=root, sandbox=bubblewrap, script=script, store=store, trials=4, limits=brief)  # type: ignore[arg-type]  # its shape
    real, hosts = RealSweep(farm, own_redis.url), connect(own_redis.url).hosts
    with WorkerProcess(own_redis.url, store.url, root, tmp_path / "log", ("--slots", "1")) as one:
        one.wait_until_ready()
        real.send(0)
        wait_until(lambda: bool(list(root.glob("cells/*/*/out/started"))))
        (spawner,) = spawners(one.process.pid)
        os.kill(spawner, signal.SIGSTOP)
        try:
            fault = real.wait_for_outcome(0).fault
            assert fault is not None
            assert fault.kind is FaultKind.HOST
            assert "this host is unhealthy" in fault.detail
            for index in (1, 2, 3):
                real.send(index)
            wait_until(lambda: hosts.live()[0].problem == fault.detail, 20)
            assert (hosts.live()[0].slots, real.leases.live(farm.sweep)) == (0, ())
            wait_until(lambda: one.log.read_text().count("claim.refused") == 1)
            with own_redis.client() as client:
                assert client.llen("farm:celery:cells") == 2
        finally:
            os.kill(spawner, signal.SIGCONT)
