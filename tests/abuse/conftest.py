"""One hostile guest for each user that the tests can be; each test looks at one of its tries."""

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.sandbox_rooms import alone, system_python, users, work_root

GUEST = Path(__file__).with_name("hostile_guest.py")
KEY = "sk-host-key-4711"
LIMITS = {
    "wall_s": 30.0,
    "memory_bytes": 256 << 20,
    "processes": 32,
    "file_size_bytes": 256 << 20,
    "open_files": 64,
    "output_bytes": 1 << 20,
    "tmp_bytes": 8 << 20,
}


@dataclass(frozen=True)
class Host:
    """What there is on the host for a guest to find."""

    secrets: tuple[Path, ...]
    port: int
    port6: int
    abstract: str
    leaked: int
    key: str = KEY
    processes: int = LIMITS["processes"]


@pytest.fixture(scope="session")
def host():
    place = work_root() / "secrets"
    place.mkdir()
    secrets = (place / "closed", place / "open")
    for secret, mode in zip(secrets, (0o600, 0o644), strict=True):
        secret.write_text(KEY)
        secret.chmod(mode)
    abstract = f"abuse-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as door6,
        socket.socket(socket.AF_UNIX) as hidden,
        secrets[0].open() as leaked,
    ):
        hidden.bind("\0" + abstract)
        hidden.listen()
        yield Host(secrets, door.getsockname()[1], door6.getsockname()[1], abstract, leaked.fileno())


def _testimony(user, host, *, filtered):
    tries = {
        "secrets": [str(secret) for secret in host.secrets],
        "others": [str(work_root()), str(Path.home()), str(Path.cwd())],
        "host_pid": os.getpid(),
        "key": KEY,
        "port": host.port,
        "port6": host.port6,
        "abstract": host.abstract,
        "processes": LIMITS["processes"],
        "memory": 1 << 30,
    }
    order = {"do": "visit", "tries": tries, "filtered": filtered, "limits": LIMITS}
    order |= {"python": system_python(), "script": GUEST.read_text()}
    env = {
        "PATH": "/usr/bin:/bin",
        "HARNESS_KEY": KEY,
        "LD_LIBRARY_PATH": "/nowhere",
        "PYTHONSAFEPATH": "",
        "GIT_DIR": "/x",
    }
    told = alone(user, order, env=env, pass_fds=(host.leaked,))
    assert told["code"] == 0, told["stderr"]
    return json.loads(told["stdout"])


@pytest.fixture(scope="session", params=users())
def guest(request, host):
    """What the guest of each user saw, under the whole plan."""
    return _testimony(request.param, host, filtered=True)


@pytest.fixture(scope="session", params=users())
def unfiltered(request, host):
    """What the same guest sees without the system-call filter: the controls."""
    return _testimony(request.param, host, filtered=False)
