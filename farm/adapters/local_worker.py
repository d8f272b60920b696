"""A worker process on this machine, for `farm run`: started by module name, never imported.

The child holds the read end of a pipe whose only writer is us: when we die, however we die, it sees the end of the
pipe and stops at once. A worker that dies is started again: its cells are the coordinator's to offer anew.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from farm.errors import SpecError

_MODULE = "worker.cli"
_LOG_LINES = 12
_MOST_STARTS = 5
"""In a row; one that lived for `_WELL_S` begins a new row."""
_WELL_S = 60.0
_END_S = 10.0
_LOOK_S = 0.02
_REFUSED = 2


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How to start the process; `env` is the whole environment of the child."""

    slots: int | None
    """None leaves the number to the worker's own settings."""
    env: Mapping[str, str]
    log: Path


def worker_argv(*arguments: str) -> list[str]:
    """Give the command that runs the worker's own command line under this interpreter."""
    return [sys.executable, "-m", _MODULE, *arguments]


class LocalWorker:
    """A running worker; `with` ends it."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._starts = 0
        self._started_s = 0.0
        self._process = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(patience_s=4.0)

    @property
    def log(self) -> Path:
        return self._options.log

    def tend(self) -> None:
        """Start the worker again if it died; raise SpecError with its log's end if it refused, or keeps dying."""
        code = self._process.poll()
        if code is None:
            return
        if time.monotonic() - self._started_s > _WELL_S:
            self._starts = 0
        if code == _REFUSED or self._starts >= _MOST_STARTS:
            lines = self._options.log.read_text(errors="replace").strip().splitlines()[-_LOG_LINES:]
            raise SpecError(
                f"the worker ended with code {code}; mend what its log {self._options.log} says, "
                "and go on with `farm resume`:\n  " + "\n  ".join(lines)
            )
        self._close_lifeline()
        self._process = self._start()

    def stop(self, patience_s: float, is_urgent: Callable[[], bool] = lambda: False) -> None:
        """End the worker: running cells get `patience_s` to record what they have, then all of it is killed.

        At once, when it `is_urgent` or becomes so.
        """
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            until_s = time.monotonic() + patience_s
            while self._process.poll() is None and time.monotonic() < until_s and not is_urgent():
                time.sleep(_LOOK_S)
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(_END_S)
        self._close_lifeline()

    def _start(self) -> subprocess.Popen[bytes]:
        self._starts += 1
        self._started_s = time.monotonic()
        self._options.log.parent.mkdir(parents=True, exist_ok=True)
        with self._options.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 (our own module, by absolute interpreter)
                worker_argv(*self._slots(), "--lifeline"),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=dict(self._options.env),
                start_new_session=True,
            )

    def _slots(self) -> tuple[str, ...]:
        return () if self._options.slots is None else ("--slots", str(self._options.slots))

    def _close_lifeline(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
