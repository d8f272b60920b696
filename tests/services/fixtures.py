"""Servers as fixtures. Those named `…_server` are shared by the whole test run; kill only what you started yourself."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.builders.sandbox_rooms import system_python
from tests.services.docker import DockerEngine, a_small_tree, an_engine
from tests.services.programs import program
from tests.services.rabbitmq import RabbitServer, a_rabbitmq
from tests.services.redis import RedisServer, a_redis
from tests.services.s3 import S3Place, S3Server, an_s3_server


@contextmanager
def _running(server: RedisServer | S3Server | DockerEngine) -> Iterator[None]:
    server.process.start()
    try:
        yield
    finally:
        server.process.stop()


@pytest.fixture(scope="session")
def agents_folder() -> Path:
    """Give the folder of the real agents' programs; install what is not there yet."""
    script = Path(__file__).parents[2] / "ops" / "agents.sh"
    own = os.environ.get("FARM_AGENTS")  # noqa: TID251 (tests have no settings)
    folder = Path(own).absolute() if own else script.parents[1] / ".farm" / "agents"
    done = subprocess.run(["sh", script, f"{folder}/"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"sh ops/agents.sh: {done.stderr.strip()}")
    return folder


@pytest.fixture(scope="session")
def vitest_folder() -> Path:
    """Give the folder in which Vitest is a package; install it when it is not there yet."""
    script = Path(__file__).parents[2] / "ops" / "vitest.sh"
    folder = script.parents[1] / ".farm" / "vitest"
    done = subprocess.run(["sh", script, folder], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"sh ops/vitest.sh: {done.stderr.strip()}")
    return folder / "node_modules"


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Run Redis for all tests."""
    server = a_redis(program("redis-server"), tmp_path_factory.mktemp("redis"))
    with _running(server):
        yield server


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Run Valkey for all tests."""
    server = a_redis(program("valkey-server"), tmp_path_factory.mktemp("valkey"))
    with _running(server):
        yield server


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """Run Redis for one test, which may do to it what it likes."""
    server = a_redis(program("redis-server"), tmp_path / "redis")
    with _running(server):
        yield server


@pytest.fixture(scope="session")
def rabbitmq_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    """Run RabbitMQ for all tests."""
    server = a_rabbitmq(tmp_path_factory.mktemp("rabbitmq"))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """Give the URL of an empty Redis."""
    redis_server.flush()
    return redis_server.url


@pytest.fixture
def valkey_url(valkey_server: RedisServer) -> str:
    """Give the URL of an empty Valkey."""
    valkey_server.flush()
    return valkey_server.url


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Run an S3 server for all tests."""
    server = an_s3_server(program("weed"), tmp_path_factory.mktemp("s3"))
    with _running(server):
        yield server


@pytest.fixture
def s3(s3_server: S3Server) -> S3Place:
    """Give an empty place on the shared S3 server: a store's URL and access."""
    return s3_server.fresh_place()


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[DockerEngine]:
    """Run a docker engine for all tests; only root can."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a docker engine of its own")
    with tempfile.TemporaryDirectory(prefix="engine-") as folder:
        engine = an_engine(Path(folder))
        with _running(engine):
            yield engine


@pytest.fixture(scope="session")
def docker_image(docker_engine: DockerEngine) -> str:
    """Give the id of an image with a static busybox and nothing else."""
    return docker_engine.load(a_small_tree(program("busybox")))


@pytest.fixture(scope="session")
def docker_python_image(docker_engine: DockerEngine) -> str:
    """Give the id of an image that has this machine's Python besides."""
    return docker_engine.load(a_small_tree(program("busybox"), python=Path(system_python())))
