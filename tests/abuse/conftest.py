"""One hostile guest for each user that the tests can be; each test looks at one of its tries."""

import ctypes
import json
import os
import secrets
import socket
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import limits
from tests.builders.sandbox_rooms import alone, system_python, users, work_root

GUEST = Path(__file__).with_name("hostile_guest.py")
TOOL = Path(__file__).with_name("hostile_tool.py")
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
    pathname: Path
    shared: int
    """The key of a SysV segment."""
    shared_file: Path
    key: str = KEY
    processes: int = LIMITS["processes"]


@contextmanager
def segment():
    """Make a SysV segment that everybody may read; give its key."""
    libc, key = ctypes.CDLL(None, use_errno=True), secrets.randbelow(1 << 30) + 1
    number = libc.shmget(key, 4096, 0o1666)
    assert number >= 0, os.strerror(ctypes.get_errno())
    try:
        yield key
    finally:
        libc.shmctl(number, 0, None)


@pytest.fixture(scope="session")
def host():
    place = work_root() / "secrets"
    place.mkdir()
    hidden_files = (place / "closed", place / "open")
    for secret, mode in zip(hidden_files, (0o600, 0o644), strict=True):
        secret.write_text(KEY)
        secret.chmod(mode)
    abstract, pathname = f"abuse-{os.getpid()}", place / "socket"
    with (
        segment() as shared,
        tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="abuse-") as shared_file,
        socket.socket(socket.AF_UNIX) as plain,
        socket.create_server(("127.0.0.1", 0)) as door,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as door6,
        socket.socket(socket.AF_UNIX) as hidden,
        hidden_files[0].open() as leaked,
    ):
        hidden.bind("\0" + abstract)
        hidden.listen()
        plain.bind(str(pathname))
        plain.listen()
        pathname.chmod(0o777)
        yield Host(
            secrets=hidden_files,
            port=door.getsockname()[1],
            port6=door6.getsockname()[1],
            abstract=abstract,
            leaked=leaked.fileno(),
            pathname=pathname,
            shared=shared,
            shared_file=Path(shared_file.name),
        )


def _testimony(user, host, *, filtered):
    tries = {
        "secrets": [str(secret) for secret in host.secrets],
        "others": [str(work_root()), str(Path.home()), str(Path.cwd())],
        "host_pid": os.getpid(),
        "key": KEY,
        "port": host.port,
        "port6": host.port6,
        "abstract": host.abstract,
        "pathname": str(host.pathname),
        "shared": host.shared,
        "processes": LIMITS["processes"],
        # A control group ends the whole guest for it: that has a test of its own.
        "memory": 0 if user == "root" and limits.find().groups else 1 << 30,
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


def _called(user, how):
    order = {"do": "call", "as": how, "limits": LIMITS, "python": system_python(), "script": TOOL.read_text()}
    told = alone(user, order)
    assert told["code"] == 0, told["stderr"]
    return json.loads(told["stdout"])


@pytest.fixture(scope="session", params=users())
def tool(request):
    """What a session and its tool could reach, the tool in the tool room."""
    return _called(request.param, "tool")


@pytest.fixture(scope="session", params=users())
def flat_tool(request):
    """What a session and its tool could reach, the tool being the session's own child."""
    return _called(request.param, "flat")
