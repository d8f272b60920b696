"""A real worker process: Celery's pool on a real Redis, a folder store, a real sandbox."""

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farm.adapters.redis import connect
from farm.model import AttemptCleanup, FaultKind, parse_record
from farm.model.keys import attempt_cleanup_key
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.faulty import processes
from tests.builders.worker.asking import asks
from tests.builders.worker.farm import Farm
from tests.builders.worker.process import FolderStore, RealSweep, WorkerProcess
from tests.services.provider import serving
from tests.services.redis import RedisServer
from tests.services.waiting import wait_until

TRANSLATOR = "-m\0worker.translator\0"


def marked(mark: str) -> list[int]:
    """Every process of this machine whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(int(entry.name))
    return found


@pytest.fixture
def mark(request: pytest.FixtureRequest) -> str:
    """A length of sleep that no other test uses."""
    return f"97{abs(hash(request.node.name)) % 10**6}.5"


def sleeps(mark: str) -> list[dict[str, Any]]:
    return [{"say": "so far"}, {"spawn": {"command": f"exec sleep {mark}"}}, {"run": {"command": f"sleep {mark}"}}]


Start = Callable[..., RealSweep]


@pytest.fixture
def sweep(own_redis: RedisServer, tmp_path: Path, bubblewrap: Bubblewrap, work_root: Path) -> Start:
    def make(*script: dict[str, Any], **changes: Any) -> RealSweep:
        store: Any = FolderStore(tmp_path / "store")
        farm = Farm(root=work_root, sandbox=bubblewrap, script=list(script), store=store, **changes)
        return RealSweep(farm, own_redis.url)

    return make


@pytest.fixture
def root(work_root: Path) -> Path:
    """A work root of this test's own."""
    return work_root / f"own-{os.urandom(4).hex()}"


@pytest.fixture
def worker(own_redis: RedisServer, tmp_path: Path, root: Path) -> Callable[..., WorkerProcess]:
    def make(*arguments: str, **extra: str) -> WorkerProcess:
        store_url = (tmp_path / "store").as_uri()
        words = ("--slots", "2", *arguments)
        return WorkerProcess(own_redis.url, store_url, root, tmp_path / "worker.log", words, extra)

    return make


Worker = Callable[..., WorkerProcess]


def test_cells_run_to_their_results_and_sigterm_ends_the_worker(sweep: Start, worker: Worker, root: Path) -> None:
    real = sweep({"answer": {"text": "ok"}}, trials=3)
    with worker() as one:
        one.wait_until_ready()
        for index in range(3):
            real.send(index)
        for index in range(3):
            assert real.wait_for_outcome(index).is_usable
        wait_until(lambda: not real.leases.live(real.farm.sweep))
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(20) == 0
    assert all(real.has_result(index) for index in range(3))
    assert list(root.glob("cells/*")) == []


def test_two_workers_of_one_host_add_up_and_share_no_slot(
    sweep: Start, worker: Worker, own_redis: RedisServer, mark: str, root: Path
) -> None:
    real = sweep(*sleeps(mark), trials=2)
    hosts = connect(own_redis.url).hosts
    with worker("--slots", "1"), worker("--slots", "1"):
        wait_until(lambda: sum(host.slots for host in hosts.live()) == 2, 40)
        assert {host.id.split("/")[0] for host in hosts.live()} == {"host-1"}
        for index in range(2):
            real.send(index)
        wait_until(lambda: len(list(root.glob("cells/*/*/ws"))) == 2 and len(marked(mark)) >= 4)
        assert sorted(path.name for path in root.glob("slots/*")) == ["0", "1"]
        owners = {path.stat().st_uid for path in root.glob("cells/*/*/ws")}
    assert len(owners) == (2 if os.geteuid() == 0 else 1)


def test_sigterm_lets_a_running_cell_finish_and_a_second_one_stops_it(sweep: Start, worker: Worker, mark: str) -> None:
    real = sweep(*sleeps(mark))
    with worker() as one:
        one.wait_until_ready()
        real.send()
        wait_until(lambda: bool(marked(mark)))
        one.process.send_signal(signal.SIGTERM)
        wait_until(lambda: "Warm shutdown" in one.log.read_text())
        assert marked(mark)
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(20) == 0
    outcome = real.outcome()
    assert outcome is not None
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.detail) == (FaultKind.CANCELLED, "stopped with its worker")
    assert not real.has_result()
    assert marked(mark) == []


def test_sigterm_hands_back_at_the_end_of_the_grace_what_has_not_finished(
    sweep: Start, worker: Worker, mark: str
) -> None:
    real = sweep(*sleeps(mark))
    with worker(FARM_GRACE_S="1") as one:
        one.wait_until_ready()
        real.send()
        wait_until(lambda: bool(marked(mark)))
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(20) == 0
    outcome = real.outcome()
    assert outcome is not None
    assert outcome.fault is not None
    assert (outcome.fault.kind, outcome.fault.detail) == (FaultKind.CANCELLED, "stopped with its worker")
    assert not real.has_result()
    assert marked(mark) == []


def test_kill_9_of_the_main_process_ends_every_process_of_its_cells_and_loses_no_word_of_them(
    sweep: Start, worker: Worker, mark: str, root: Path
) -> None:
    real = sweep(*sleeps(mark))
    with worker() as one:
        one.wait_until_ready()
        real.send()
        wait_until(lambda: len(marked(mark)) >= 2)
        one.process.kill()
        wait_until(lambda: marked(mark) == [], 5)
    assert list(root.glob("cells/*/*"))
    assert real.outcome() is None
    with worker():  # the dead one's heartbeat still stands: its ground is what tells
        wait_until(lambda: list(root.glob("cells/*/*")) == [], 40)
        cell = real.farm.plan.cells[0].id
        key = attempt_cleanup_key(real.farm.sweep, cell, 1)
        wait_until(lambda: real.farm.records.read(key) is not None)
        left = parse_record(AttemptCleanup, real.farm.records.read(key) or b"", key)
        assert (left.done, [one.role for one in left.artifacts]) == (True, ["session.work.events"])
        assert b"so far" in real.farm.blobs.get(left.artifacts[0].digest)
        assert real.outcome() is None
        wait_until(lambda: not real.leases.live(real.farm.sweep), 20)


def test_what_a_killed_slot_leaves_is_cleared_while_its_worker_lives(
    sweep: Start, worker: Worker, mark: str, root: Path
) -> None:
    real = sweep(*sleeps(mark))
    with worker() as one:
        one.wait_until_ready()
        real.send()
        wait_until(lambda: len(marked(mark)) >= 2)
        slots = [tree for tree in processes() if tree.parent == one.process.pid and "celery" in tree.command]
        for slot in slots:
            os.kill(slot.pid, signal.SIGKILL)
        wait_until(lambda: marked(mark) == [], 5)
        wait_until(lambda: list(root.glob("cells/*/*")) == [], 15)
        assert one.process.poll() is None
        key = attempt_cleanup_key(real.farm.sweep, real.farm.plan.cells[0].id, 1)
        wait_until(lambda: real.farm.records.read(key) is not None)
        left = parse_record(AttemptCleanup, real.farm.records.read(key) or b"", key)
        assert b"so far" in real.farm.blobs.get(left.artifacts[0].digest)


def test_kill_9_of_the_main_process_ends_the_translator_of_its_slot(
    sweep: Start, worker: Worker, tmp_path: Path
) -> None:
    real = sweep(agent=asks("m"), provider="acme")
    others = set(marked(TRANSLATOR))
    with serving({"rules": [{"reply": {"text": "late", "stall": {"at": "headers"}}}]}) as provider:
        (tmp_path / "providers.yaml").write_text(
            f"acme: {{wires: [responses], url: '{provider.url}', translate: anthropic}}"
        )
        with worker(FARM_PROVIDERS=str(tmp_path / "providers.yaml")) as one:
            one.wait_until_ready()
            real.send()
            wait_until(lambda: bool(provider.requests), 60)
            (translator,) = set(marked(TRANSLATOR)) - others
            one.process.kill()
            wait_until(lambda: translator not in marked(TRANSLATOR), 5)


def test_with_a_lifeline_the_worker_ends_with_whoever_started_it(sweep: Start, worker: Worker, mark: str) -> None:
    real = sweep(*sleeps(mark))
    with worker("--lifeline") as one:
        one.wait_until_ready()
        real.send()
        wait_until(lambda: bool(marked(mark)))
        assert one.process.stdin is not None
        one.process.stdin.close()
        assert one.process.wait(5) == -signal.SIGKILL
        wait_until(lambda: marked(mark) == [], 5)


def test_with_a_lifeline_one_sigterm_stops_running_cells_and_records_them(
    sweep: Start, worker: Worker, mark: str
) -> None:
    real = sweep(*sleeps(mark))
    with worker("--lifeline") as one:
        one.wait_until_ready()
        real.send()
        wait_until(lambda: bool(marked(mark)))
        one.process.send_signal(signal.SIGTERM)
        assert one.process.wait(10) == 0
    outcome = real.outcome()
    assert outcome is not None
    assert outcome.fault is not None
    assert outcome.fault.kind is FaultKind.CANCELLED


def test_a_restart_of_redis_costs_a_running_cell_nothing_and_the_free_slot_works_on(
    sweep: Start, worker: Worker, own_redis: RedisServer, mark: str
) -> None:
    real = sweep({"run": {"command": f"sleep 0.{mark.replace('.', '')}; sleep 5"}}, trials=2)
    with worker() as one:
        one.wait_until_ready()
        real.send(0)
        wait_until(lambda: bool(real.leases.live(real.farm.sweep)))
        own_redis.restart()
        real.leases.open_sweep(real.farm.sweep)
        real.send(1)
        first, second = real.wait_for_outcome(0), real.wait_for_outcome(1)
        assert one.process.poll() is None
    assert first.is_usable
    assert second.is_usable
    assert (second.started_at - first.started_at).total_seconds() < 10


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("FARM_REDIS_URL", "", "set FARM_REDIS_URL"),
        ("FARM_STORE", "", "FARM_STORE is ''"),
        ("FARM_STORE", "folder", "FARM_STORE is 'folder'"),
        ("FARM_BEAT_S", "soon", "FARM_BEAT_S is 'soon'"),
    ],
)
def test_a_setting_that_is_wrong_is_named(worker: Worker, name: str, value: str, words: str) -> None:
    with worker(**{name: value}) as one:
        assert one.process.wait(20) == 2
    assert words in one.log.read_text()


def test_a_work_root_that_slots_can_not_reach_is_refused_with_a_way_out(tmp_path: Path, own_redis: RedisServer) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    if os.geteuid() != 0:
        assert closed.stat().st_mode & stat.S_IXOTH == 0  # an ordinary user's slots are that user
        return
    log, store = tmp_path / "worker.log", (tmp_path / "store").as_uri()
    with WorkerProcess(own_redis.url, store, closed / "root", log) as one:
        assert one.process.wait(30) == 2
    assert "can't be reached by the slots' uids" in log.read_text()
    assert "SecurityWarning" not in log.read_text()  # Celery's, about a worker that is root
