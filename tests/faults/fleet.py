"""One fleet for all faults: a Redis, an S3 server behind a proxy, and two workers, each known by its process.

A fault may do to it what it likes; `heal` makes it whole again for the next.
"""

import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from farm import bootstrap
from farm.adapters import s3
from farm.bootstrap import Exchange
from farm.ports import Store
from tests.builders.faulty import descendants, processes
from tests.faults import hooked
from tests.faults.lanes import Lane, a_lane
from tests.faults.points import PLACE, Points
from tests.services.programs import program
from tests.services.proxy import Exchange as Request
from tests.services.proxy import Proxy, Trick, a_proxy
from tests.services.redis import RedisServer, a_redis
from tests.services.s3 import S3Server, an_s3_server
from tests.services.waiting import wait_until

ROOT = Path(__file__).parents[2]
LEASE_S = 2.0
SLOTS = 4
_READY_S = 60.0
_MARK = "FARM_TEST_MARK"


def as_it_is(_request: Request) -> None:
    """Do nothing to a request."""


@dataclass
class Tricks:
    """What the proxy does to requests now."""

    now: Trick = as_it_is

    def __call__(self, request: Request) -> None:
        self.now(request)


@dataclass
class Host:
    """A worker, or what is left of it."""

    name: str
    root: Path
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def tree(self) -> set[int]:
        """Name the worker's processes, sessions included."""
        return descendants(self.pid) if self.is_alive else set()

    def children(self) -> list[int]:
        """Name the slots' processes."""
        return [tree.pid for tree in processes() if tree.parent == self.pid and "celery" in tree.command]

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the main process and the slots."""
        for pid in (self.pid, *self.children()):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it and wait."""
        self.process.send_signal(how)
        self.process.send_signal(signal.SIGCONT)
        self.process.wait(30)


@dataclass
class Fleet:
    """The services and the workers."""

    folder: Path
    redis: RedisServer
    s3: S3Server
    proxy: Proxy
    tricks: Tricks
    points: Points
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    prefix: str = field(default_factory=lambda: f"faults-{uuid.uuid4().hex[:8]}")
    lanes: Mapping[str, Lane] = field(default_factory=dict)
    """The namespaces of those hosts that have one."""
    hosts: dict[str, Host] = field(default_factory=dict)

    @property
    def exchange(self) -> Exchange:
        return bootstrap.connect(self.redis.url)

    def store(self) -> Store:
        """Open the store past the proxy: nothing that is done to the workers is done to us."""
        return s3.open_store(f"s3://{self.s3.bucket}/{self.prefix}", self.s3.access)

    def env(self) -> dict[str, str]:
        """Give the environment of the farm's processes, which reach S3 through the proxy."""
        access = self.s3.access_through(self.proxy.port)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "CI") if name in os.environ}  # noqa: TID251 (tests have no settings)
        return kept | {
            _MARK: self.mark,
            PLACE: str(self.folder / "points"),
            "PYTHONPATH": f"{self.folder / 'plug-in'}:{ROOT}",
            "TMPDIR": str(self.folder),
            "FARM_REDIS_URL": self.redis.url,
            "FARM_STORE": f"hooked-s3://{self.s3.bucket}/{self.prefix}",
            "FARM_S3_ENDPOINT_URL": access.endpoint_url or "",
            "FARM_S3_REGION": access.region or "",
            "FARM_S3_PATH_STYLE": "true",
            "FARM_S3_ACCESS_KEY": access.access_key or "",
            "FARM_S3_SECRET_KEY": access.secret_key or "",
            "FARM_LEASE_TTL_S": f"{LEASE_S}",
            "FARM_BEAT_S": "0.4",
        }

    def start(
        self, name: str, *before: str, env: Mapping[str, str] | None = None, slots: int = SLOTS, out: int | None = None
    ) -> Host:
        """Start a worker; `before` are words that its command is put behind, `out` is where its words go."""
        root, log = self.folder / name, self.folder / f"{name}.log"
        own = {"FARM_HOST_ID": name, "FARM_WORK_ROOT": str(root)}
        if lane := self.lanes.get(name):
            before = (*lane.inside, *before)
            own["FARM_REDIS_URL"] = f"redis://{lane.near}:{self.redis.port}/0"
            own["FARM_S3_ENDPOINT_URL"] = f"http://{lane.near}:{self.proxy.port}"
        with log.open("ab") as file:
            process = subprocess.Popen(
                [*before, sys.executable, "-m", "worker.cli", "--slots", f"{slots}"],
                cwd=self.folder,
                env=self.env() | own | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=file if out is None else out,
                stderr=file if out is None else out,
                start_new_session=True,
            )
        host = Host(name, root, log, process)
        self.hosts[name] = host
        return host

    def await_ready(self, *names: str) -> None:
        """Wait for the workers' heartbeats."""
        registry = self.exchange.hosts

        def beat() -> bool:
            for name in names:
                assert self.hosts[name].is_alive, self.hosts[name].log.read_text()[-3000:]
            live = {host.id.partition("/")[::2] for host in registry.live()}
            return all((name, str(self.hosts[name].pid)) in live for name in names)

        wait_until(beat, _READY_S)

    def heal(self) -> None:
        """Make the fleet whole: no points, no tricks, both workers up."""
        self.points.clear()
        self.tricks.now = as_it_is
        for server in (self.redis.process, self.s3.process):
            if not server.is_running:
                server.start_again()
        for name in [name for name in self.hosts if name not in {"a", "b"}]:
            self.remove(name)
        gone = [name for name in ("a", "b") if name not in self.hosts or not self.hosts[name].is_alive]
        for name in gone:
            self.start(name)
        self.await_ready("a", "b")

    def remove(self, name: str) -> None:
        """End a worker for good."""
        host = self.hosts.pop(name)
        if host.is_alive:
            host.end()

    def close(self) -> None:
        """End every worker."""
        for name in tuple(self.hosts):
            self.remove(name)


@contextmanager
def a_fleet() -> Iterator[Fleet]:
    """Run the services and two workers while the block runs."""
    with tempfile.TemporaryDirectory(prefix="f", dir="/var/tmp") as place, ExitStack() as stack:
        folder = Path(place)
        lanes = {name: stack.enter_context(a_lane(number)) for number, name in enumerate(("a", "b"))}
        folder.chmod(0o711)  # a root worker's slots have uids of their own, and must pass through
        hooked.lay_out(folder / "plug-in")
        server = an_s3_server(program("weed"), folder / "s3")
        (folder / "redis").mkdir()
        small = ("mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder / "redis")
        subprocess.run(small, check=True)
        settings = ["--enable-debug-command", "yes", "--auto-aof-rewrite-min-size", "4mb", "--protected-mode", "no"]
        settings += ["--bind", "127.0.0.1", *(lane.near for lane in lanes.values())]
        redis = a_redis(program("redis-server"), folder / "redis", *settings)
        tricks = Tricks()
        try:
            redis.process.start()
            server.process.start()
            with a_proxy(server.port, tricks, "0.0.0.0") as proxy:  # noqa: S104 (the hosts reach it from their namespaces)
                fleet = Fleet(folder, redis, server, proxy, tricks, Points(folder / "points"), lanes=lanes)
                try:
                    fleet.heal()
                    yield fleet
                finally:
                    fleet.close()
        finally:
            redis.process.stop()
            server.process.kill()
            subprocess.run(("umount", folder / "redis"), check=True)
