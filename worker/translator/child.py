"""LiteLLM's own process, as the worker holds it: a lifeline, a port, a log."""

import fcntl
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import IO, cast

from farm.errors import TransientError
from farm.ports import Clock
from sandbox.process.waiting import is_readable, is_waited_for

_LOOK_S = 0.25
_END_S = 15.0
_TAIL_BYTES = 2000
_MOST_LOG_BYTES = 1 << 20
_ENV = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else it asks the internet for one
    "LITELLM_MODE": "PRODUCTION",  # else it looks for a .env
    "PATH": "/usr/bin:/bin",
}


@dataclass(frozen=True, slots=True)
class Child:
    """A process that serves, or is about to; it ends when its lifeline is closed, also by our death."""

    process: subprocess.Popen[bytes]
    lifeline: IO[bytes]
    """The only writing end of its standard input: no other child of ours inherits it."""
    word: IO[bytes]
    log: IO[bytes]
    port: int
    key: str = field(repr=False)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def wait_until_ready(self, until_s: float, clock: Clock, must_stop: Callable[[], bool]) -> None:
        """Wait for its word; raise TransientError with the end of its log when that does not come."""
        while not is_readable(self.word.fileno(), _LOOK_S):
            if must_stop():
                raise TransientError("the cell was stopped while LiteLLM was starting")
            if clock.monotonic() > until_s:
                raise TransientError(f"LiteLLM did not become ready in time; {self.tail()}")
        if not self.word.read(1):
            is_waited_for(self.process, _END_S)
            raise TransientError(f"LiteLLM can't be started; {self.tail()}")

    def tail(self) -> str:
        """Say how its log ends. No provider's key is in it: it is told none."""
        log = self.log.fileno()
        text = os.pread(log, _TAIL_BYTES, max(os.fstat(log).st_size - _TAIL_BYTES, 0)).decode("utf-8", "replace")
        return f"its log ends: {text.strip()}" if text.strip() else "its log is empty"

    def shorten_log(self) -> None:
        """Forget a long log: the process may live for weeks."""
        if os.fstat(self.log.fileno()).st_size > _MOST_LOG_BYTES:
            os.ftruncate(self.log.fileno(), 0)

    def end(self) -> None:
        """Close the lifeline, and wait until it is dead."""
        self.lifeline.close()
        if not is_waited_for(self.process, _END_S):
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            is_waited_for(self.process, _END_S)
        self.word.close()
        self.log.close()


def start() -> Child:
    """Start one; raise OSError when this host can't."""
    key = secrets.token_hex(32)
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as undo:
        log = undo.enter_context(tempfile.TemporaryFile())
        fcntl.fcntl(log, fcntl.F_SETFL, os.O_APPEND)  # it can be cut while it is written to
        process = subprocess.Popen(  # noqa: S603 (our own program)
            (sys.executable, "-P", "-m", "worker.translator", str(listener.fileno())),
            env=_ENV,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=(listener.fileno(),),
            start_new_session=True,
            bufsize=0,
        )
        undo.pop_all()
        lifeline, word = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        with suppress(BrokenPipeError):  # that it has ended already is seen when it does not become ready
            lifeline.write(f"{key}\n".encode())
        return Child(process, lifeline, word, log, listener.getsockname()[1], key)
