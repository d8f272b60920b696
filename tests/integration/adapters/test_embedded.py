import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from farm.adapters.celery import CeleryDispatcher, make_app
from farm.adapters.embedded import EmbeddedRedis, find_server
from farm.adapters.redis import connect
from farm.errors import TransientError
from farm.model import StopReason
from farm.testing.leases import SWEEP, a_ticket
from tests.services.programs import program
from tests.services.waiting import wait_until

OWNER = """
import sys, threading
from farm.adapters.embedded import EmbeddedRedis
def start():
    embedded = EmbeddedRedis()
    embedded.__enter__()
    print(embedded.url, flush=True)
    globals()["kept"] = embedded
thread = threading.Thread(target=start)
thread.start()
thread.join()
sys.stdin.read()
kept.__exit__(None, None, None)
"""

BROKEN = """#!/bin/sh
for word; do
  [ "$before" = --logfile ] && echo "the disk is on fire" > "$word"
  before=$word
done
exit 1
"""


@contextmanager
def an_owner(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process whose first thread to end has started a server; it stops it when its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"TMPDIR": str(temporary), "PATH": str(find_server().parent)},
    ) as owner:
        yield owner


def url_of(owner: subprocess.Popen[str]) -> str:
    assert owner.stdout is not None
    return owner.stdout.readline().strip()


def folder_of(url: str) -> Path:
    return Path(url.removeprefix("unix://").partition("?")[0]).parent


def answers(url: str) -> bool:
    farm = connect(url)
    try:
        farm.ping()
    except TransientError:
        return False
    finally:
        farm.close()
    return True


@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
def test_it_serves_the_farm_and_celery_and_then_is_gone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "redis-server").symlink_to(program(name))
    monkeypatch.setenv("PATH", str(tmp_path))
    with EmbeddedRedis() as embedded:
        assert stat.S_IMODE(folder_of(embedded.url).stat().st_mode) == 0o700
        farm = connect(embedded.url)
        farm.signals.order_stop(SWEEP, StopReason.CANCEL)
        assert farm.signals.stop_reason(SWEEP) is StopReason.CANCEL
        CeleryDispatcher(make_app(embedded.url)).send(a_ticket())
        farm.close()
    assert not answers(embedded.url)
    assert not folder_of(embedded.url).exists()


def test_where_temporary_files_lie_too_deep_for_a_socket_it_lies_elsewhere(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 90) / ("b" * 90)
    deep.mkdir(parents=True)
    with an_owner(deep) as owner:
        url = url_of(owner)
        assert answers(url)
    assert not answers(url)
    assert not folder_of(url).exists()


def test_it_lies_where_temporary_files_lie_up_to_the_longest_path_of_a_socket() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        place = Path(short) / ("a" * (107 - len(f"{short}//farm-redis-12345678/redis.sock")))
        place.mkdir()
        with an_owner(place) as owner:
            url = url_of(owner)
            assert answers(url)
            assert folder_of(url).parent == place


def test_it_ends_with_a_killed_owner_but_not_with_the_thread_that_started_it(tmp_path: Path) -> None:
    with an_owner(tmp_path) as owner:
        url = url_of(owner)
        assert answers(url)
        os.kill(owner.pid, signal.SIGKILL)
    wait_until(lambda: not answers(url))


def test_a_server_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "redis-server").write_text(BROKEN)
    (tmp_path / "redis-server").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TransientError, match="did not start: the disk is on fire"):
        EmbeddedRedis().__enter__()


def test_a_server_program_is_found() -> None:
    program("redis-server")
    assert os.access(find_server(), os.X_OK)
