"""A real worker process on a real Redis and a folder store."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from farm.adapters import celery
from farm.adapters.files import open_store
from farm.adapters.redis import connect
from farm.model import ANYWHERE, Outcome, Ticket, parse_record
from farm.model.keys import outcome_key
from farm.ports import StoreAccess
from tests.builders.worker.farm import Farm
from tests.services.waiting import wait_until


@dataclass
class WorkerProcess:
    """`python -m worker.cli` in a session of its own; `with` ends it, however it stands."""

    redis_url: str
    store_url: str
    root: Path
    log: Path
    arguments: tuple[str, ...] = ("--slots", "2")
    extra: Mapping[str, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 (tests have no settings)
        environment |= {"FARM_REDIS_URL": self.redis_url, "FARM_STORE": self.store_url, "FARM_HOST_ID": "host-1"}
        environment |= {"FARM_WORK_ROOT": str(self.root), "FARM_LEASE_TTL_S": "6", "FARM_BEAT_S": "1", **self.extra}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "worker.cli", *self.arguments],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait_until_ready(self) -> None:
        """Wait for the host's heartbeat."""
        hosts = connect(self.redis_url).hosts
        wait_until(lambda: self.process.poll() is not None or bool(hosts.live()), 40)
        assert self.process.poll() is None, self.log.read_text()


@dataclass
class RealSweep:
    """A sweep in a folder store, and tickets for it through Celery."""

    farm: Farm
    redis_url: str
    broker_url: str | None = None
    """Who carries tickets, if not the Redis."""

    def __post_init__(self) -> None:
        self.leases = connect(self.redis_url).leases
        self.leases.open_sweep(self.farm.sweep)
        self._dispatcher = celery.CeleryDispatcher(celery.make_app(self.broker_url or self.redis_url))

    def send(self, index: int = 0, queue: str = ANYWHERE) -> None:
        plan = self.farm.plan
        ticket = Ticket(
            sweep=self.farm.sweep, plan=plan.digest, cell=plan.cells[index].id, index=index, attempt=1, queue=queue
        )
        self.leases.announce(ticket)
        self._dispatcher.send(ticket)

    def outcome(self, index: int = 0) -> Outcome | None:
        key = outcome_key(self.farm.sweep, self.farm.plan.cells[index].id, 1)
        body = self.farm.records.read(key)
        return None if body is None else parse_record(Outcome, body, key)

    def wait_for_outcome(self, index: int = 0, limit_s: float = 30.0) -> Outcome:
        wait_until(lambda: self.outcome(index) is not None, limit_s)
        outcome = self.outcome(index)
        assert outcome is not None
        return outcome

    def has_result(self, index: int = 0) -> bool:
        cell = self.farm.plan.cells[index]
        return any(key.endswith(f"results/{cell.id}.json") for key in self.farm.records.keys("sweeps/"))


def folder_store(folder: Path) -> "FolderStore":
    return FolderStore(folder)


class FolderStore:
    """A folder store in the shape that the builder of a farm takes."""

    def __init__(self, folder: Path) -> None:
        store = open_store(folder.as_uri(), StoreAccess())
        self.url = store.url
        self.blobs = store.blobs
        self.records = store.records
