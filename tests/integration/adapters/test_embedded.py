import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from farm.adapters.celery import CeleryDispatcher, make_app
from farm.adapters.embedded import EmbeddedRedis, find_server
from farm.adapters.redis import connect
from farm.errors import ConflictError, TransientError
from farm.model import StopReason
from farm.testing.leases import SWEEP, a_ticket
from tests.services.programs import program
from tests.services.waiting import wait_until

OWNER = """
import sys, threading, time
from pathlib import Path
from farm.adapters.embedded import EmbeddedRedis
def start():
    embedded = EmbeddedRedis(Path(sys.argv[1]))
    embedded.__enter__()
    print(embedded.url, flush=True)
    globals()["kept"] = embedded
thread = threading.Thread(target=start)
thread.start()
thread.join()
time.sleep(600)
"""


@pytest.fixture(params=["redis-server", "valkey-server"])
def binary(request: pytest.FixtureRequest) -> Path:
    return program(request.param)


def answers(url: str) -> bool:
    farm = connect(url)
    try:
        farm.ping()
    except TransientError:
        return False
    finally:
        farm.close()
    return True


def test_it_serves_the_farm_and_celery_and_then_is_gone(binary: Path, tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis", binary) as embedded:
        farm = connect(embedded.url)
        farm.signals.order_stop(SWEEP, StopReason.CANCEL)
        assert farm.signals.stop_reason(SWEEP) is StopReason.CANCEL
        CeleryDispatcher(make_app(embedded.url)).send(a_ticket())
        farm.close()
    assert not answers(embedded.url)


def test_its_folder_is_private_and_keeps_its_data(binary: Path, tmp_path: Path) -> None:
    for expected in (None, StopReason.CANCEL):
        with EmbeddedRedis(tmp_path / "redis", binary) as embedded:
            assert stat.S_IMODE((tmp_path / "redis").stat().st_mode) == 0o700
            farm = connect(embedded.url)
            assert farm.signals.stop_reason(SWEEP) is expected
            farm.signals.order_stop(SWEEP, StopReason.CANCEL)
            farm.close()


def test_a_deep_folder_gets_its_socket_elsewhere(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 90) / ("b" * 90)
    with EmbeddedRedis(deep) as embedded:
        assert answers(embedded.url)
        place = Path(embedded.url.removeprefix("unix://").partition("?")[0]).parent
    assert not place.exists()


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as first:
        with pytest.raises(ConflictError, match="in use"):
            EmbeddedRedis(tmp_path / "redis", lock_wait_s=0.1).__enter__()
        assert answers(first.url)


def test_it_ends_with_a_killed_owner_but_not_with_the_thread_that_started_it(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(tmp_path / "redis")], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    url = owner.stdout.readline().strip()
    assert answers(url)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    wait_until(lambda: not answers(url))
    with EmbeddedRedis(tmp_path / "redis") as again:
        assert answers(again.url)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / "appendonlydir").write_text("in the way")
    with pytest.raises(TransientError, match="did not start"):
        EmbeddedRedis(tmp_path / "redis").__enter__()


def test_a_server_program_is_found() -> None:
    program("redis-server")
    assert os.access(find_server(), os.X_OK)
