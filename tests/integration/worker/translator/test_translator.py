"""LiteLLM's process: how it starts, what it may reach, and that it never outlives its worker."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from farm.adapters.system_clock import SystemClock
from farm.errors import TransientError
from farm.model import Wire
from tests.services.waiting import wait_until
from worker.translator import Address, Translator

WORKER = """
import sys, time
from pathlib import Path
from farm.adapters.system_clock import SystemClock
from farm.model import Wire
from worker.translator import Translator
translator = Translator(SystemClock())
translator.address(Wire.CHAT, Path("/nowhere/door"), lambda: False)
time.sleep(600)
"""
BODY = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi."}]}


@pytest.fixture(scope="module")
def translator() -> Iterator[Translator]:
    made = Translator(SystemClock())
    yield made
    made.close()


def ask(address: Address, key: str | None = None) -> tuple[int, str]:
    parts = urlsplit(address.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        headers = {"x-api-key": address.key if key is None else key}
        connection.request("POST", f"{parts.path}/v1/messages", json.dumps(BODY), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def children(pid: int) -> list[int]:
    """Find the translators that `pid` has started."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_child(entry, pid)]


def _is_child(entry: Path, parent: int) -> bool:
    try:
        is_one = b"-m\0worker.translator\0" in (entry / "cmdline").read_bytes()
        return is_one and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent
    except OSError:  # it is gone
        return False


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ours() -> list[int]:
    return children(os.getpid())


def test_it_is_started_once_and_answers_who_knows_its_key_alone(translator: Translator, tmp_path: Path) -> None:
    one = translator.address(Wire.CHAT, tmp_path / "one", lambda: False)
    started = ours()
    other = translator.address(Wire.RESPONSES, tmp_path / "other", lambda: False)
    assert ours() == started
    assert one.key == other.key
    assert urlsplit(one.url).port == urlsplit(other.url).port
    status, said = ask(one, key="guessed")
    assert (status, json.loads(said)["error"]["type"]) == (401, "authentication_error")


def test_its_environment_and_its_arguments_hold_no_secret(translator: Translator, tmp_path: Path) -> None:
    address = translator.address(Wire.CHAT, tmp_path / "door", lambda: False)
    (pid,) = ours()
    seen = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
    assert address.key.encode() not in seen
    names = {line.partition(b"=")[0].decode() for line in seen.split(b"\0") if b"=" in line}
    assert names == {"HOME", "LANG", "LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_MODE", "PATH"}


def test_a_door_that_is_not_there_is_an_error_and_not_another_address(translator: Translator, tmp_path: Path) -> None:
    status, said = ask(translator.address(Wire.CHAT, tmp_path / "door", lambda: False))
    assert status == http.client.BAD_GATEWAY, said


def test_one_that_has_died_is_told_of_and_another_is_started_for_the_next_session(
    translator: Translator, tmp_path: Path
) -> None:
    translator.address(Wire.CHAT, tmp_path / "door", lambda: False)
    (pid,) = ours()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    with pytest.raises(TransientError, match="LiteLLM ended by itself; its log"):
        translator.ensure_alive()
    assert ask(translator.address(Wire.CHAT, tmp_path / "door", lambda: False))[0] == http.client.BAD_GATEWAY
    translator.ensure_alive()


def test_a_cell_that_must_stop_does_not_wait_for_it(tmp_path: Path) -> None:
    translator = Translator(SystemClock())
    with pytest.raises(TransientError, match="stopped while LiteLLM was starting"):
        translator.address(Wire.CHAT, tmp_path / "door", lambda: True)


def test_one_that_does_not_become_ready_is_ended(tmp_path: Path) -> None:
    before = ours()
    with pytest.raises(TransientError, match="did not become ready in time; its log"):
        Translator(SystemClock(), ready_s=0.0).address(Wire.CHAT, tmp_path / "door", lambda: False)
    assert ours() == before


def test_a_worker_that_is_killed_while_it_starts_takes_it_along() -> None:
    with subprocess.Popen([sys.executable, "-c", WORKER]) as worker:
        wait_until(lambda: bool(children(worker.pid)))
        (pid,) = children(worker.pid)
        worker.kill()
    wait_until(lambda: not is_alive(pid), 4)  # long before it could be ready


def test_closed_files_are_all_but_the_installation(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    tries = f"""
import os
from pathlib import Path
from worker.translator.fence import close_the_files
close_the_files()
import wave
for mode in "rw":
    try:
        open({str(tmp_path / "secret")!r}, mode)
    except PermissionError as error:
        print(error)
os.close(os.open({str(tmp_path)!r}, os.O_PATH))
Path(os.__file__).read_bytes()
"""
    done = subprocess.run([sys.executable, "-c", tries], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"the translator opens no file of this host: '{tmp_path}/secret'"] * 2
    assert (tmp_path / "secret").read_text() == "x"


def test_a_closed_network_lets_nothing_out_but_unix_sockets() -> None:
    tries = """
import socket
from worker.translator.fence import close_the_network
close_the_network()
one, other = socket.socketpair()
for kind, place in ((socket.AF_INET, ("127.0.0.1", 9)), (socket.AF_INET6, ("::1", 9))):
    try:
        socket.socket(kind).connect(place)
    except PermissionError as error:
        print(error)
try:
    socket.getaddrinfo("localhost", 80)
except PermissionError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", tries], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "the translator connects to its doors alone: ('127.0.0.1', 9)",
        "the translator connects to its doors alone: ('::1', 9)",
        "the translator asks for no address: 'localhost'",
    ]
