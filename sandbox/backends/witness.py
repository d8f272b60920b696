"""What preflight runs inside the sandbox: it tries what a guest would try and prints what came of it, as JSON.

It is not imported but given to the host's Python with `-c`, so it stands alone. Called as `witness testify ORDER` it
tries all; as `witness look ORDER` only what is harmless on the host as well, where it must see what a guest must not;
as `witness count MOST` it takes as many processes and open files as it gets, up to that many of each; as `witness
drill` it leaves a tree of daemons that ignore signals and hold a lock, and waits to be killed.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial

_CLONE_NEWUSER = 0x10000000
_AF_VSOCK = 40
_OUT = "/cell/out"
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
_DAEMONS = 4
_DRILL_S = 60


def _errno_of(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def _status() -> dict[str, str]:
    with open("/proc/self/status") as file:  # noqa: PTH123 (pathlib costs milliseconds)
        pairs = (line.rstrip("\n").split(":\t", 1) for line in file)
        return {pair[0]: pair[1] for pair in pairs if len(pair) > 1}


def _unshare_users() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _connect(family: int, address: tuple[str, int] | str) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.settimeout(2)
        door.connect(address)


def _open_for_writing(path: str) -> None:
    """Open without writing: enough to know, and harmless where it should succeed by mistake."""
    make = 0 if os.path.exists(path) else os.O_CREAT  # noqa: PTH110 (pathlib costs milliseconds)
    os.close(os.open(path, os.O_WRONLY | make))


def _children_had(most: int) -> int:
    children: list[int] = []
    with _until(errno.EAGAIN):
        while len(children) < most:
            child = os.fork()
            if child == 0:
                signal.pause()
                os._exit(0)
            children.append(child)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)


def _files_had(most: int) -> int:
    files: list[int] = []
    with _until(errno.EMFILE):
        while len(files) < most:
            files.append(os.open("/dev/null", os.O_RDONLY))
    for file in files:
        os.close(file)
    return len(files)


@contextlib.contextmanager
def _until(number: int) -> Iterator[None]:
    """End the block at that error; any other is no limit."""
    try:
        yield
    except OSError as error:
        if error.errno != number:
            raise


def _open_descriptors() -> list[int]:
    found: list[int] = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 (pathlib costs milliseconds)
        with contextlib.suppress(OSError):  # the listing's own is closed again
            os.fstat(int(name))
            found.append(int(name))
    return sorted(found)


def _environments() -> list[str]:
    """Give the names of all variables in every environment that can be read."""
    found: set[str] = set()
    for name in os.listdir("/proc"):  # noqa: PTH208 (pathlib costs milliseconds)
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 (the same)
                found.update(word.split(b"=")[0].decode(errors="replace") for word in file.read().split(b"\0") if word)
    return sorted(found)


def _lines(path: str) -> int:
    with open(path) as file:  # noqa: PTH123 (pathlib costs milliseconds)
        return sum(1 for _ in file)


def _look(tries: dict[str, list[str]], numbers: dict[str, int]) -> dict[str, object]:
    return {
        "fds": _open_descriptors(),
        "env": _environments(),
        "pids": len([name for name in os.listdir("/proc") if name.isdigit()]),  # noqa: PTH208 (the same)
        "host_pid": _errno_of(lambda: os.kill(numbers["pid"], 0)),
        "interfaces": [name for _, name in socket.if_nameindex()],
        "vsock": _errno_of(lambda: socket.socket(_AF_VSOCK, socket.SOCK_STREAM).close()),
        "tcp": _errno_of(lambda: _connect(socket.AF_INET, ("127.0.0.1", numbers["port"]))),
        "abstract": _errno_of(lambda: _connect(socket.AF_UNIX, "\0" + tries["abstract"][0])),
        "pathname": _errno_of(lambda: _connect(socket.AF_UNIX, tries["pathname"][0])),
        "seen": [path for path in tries["paths"] if os.path.exists(path)],  # noqa: PTH110 (the same)
        "segments": _lines("/proc/sysvipc/shm") - 1,
    }


def _testify(tries: dict[str, list[str]], numbers: dict[str, int]) -> dict[str, object]:
    status = _status()
    with open("/proc/self/setgroups") as file:  # noqa: PTH123 (pathlib costs milliseconds)
        setgroups = file.read().strip()
    return {
        "sight": _look(tries, numbers),
        "ids": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "setgroups": setgroups,
        "uid_map": _lines("/proc/self/uid_map"),
        "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES},  # noqa: PTH115 (the same)
        "status": {key: status[key] for key in status if key.startswith(("Cap", "NoNewPrivs", "Seccomp"))},
        "userns": _errno_of(_unshare_users),
        "writes": {path: _errno_of(partial(_open_for_writing, path)) for path in tries["writes"]},
    }


def _drill() -> None:
    lock = os.open(f"{_OUT}/lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    for _ in range(_DAEMONS):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.sigtimedwait((), _DRILL_S)
            os._exit(0)
    print("ready", flush=True)  # noqa: T201 (what the host waits for)
    signal.sigtimedwait((), _DRILL_S)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["drill"]:
            _drill()
        case ["count", most]:
            print(json.dumps({"children": _children_had(int(most)), "files": _files_had(int(most))}))  # noqa: T201 (the testimony)
        case words:
            what, order = words[0], json.loads(words[1])
            said = (_look if what == "look" else _testify)(order["tries"], order["numbers"])
            print(json.dumps(said))  # noqa: T201 (the testimony)
