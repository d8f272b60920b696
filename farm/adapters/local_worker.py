"""A worker process on this machine, for `farm run` and `farm doctor`: started by module name, never imported.

The child holds the read end of a pipe whose only writer is us: when we die, however we die, it sees the end of the
pipe and stops at once.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from farm.errors import SpecError

_MODULE = "worker.cli"
_LOG_LINES = 12


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How to start the process; `env` is the whole environment of the child."""

    slots: int
    env: Mapping[str, str]
    log: Path


def worker_argv(*arguments: str) -> list[str]:
    """Give the command that runs the worker's own command line under this interpreter."""
    return [sys.executable, "-m", _MODULE, *arguments]


class LocalWorker:
    """A running worker; `with` ends it."""

    def __init__(self, options: WorkerOptions) -> None:
        options.log.parent.mkdir(parents=True, exist_ok=True)
        self._log_path = options.log
        with options.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 (our own module, by absolute interpreter)
                worker_argv("--slots", str(options.slots), "--lifeline"),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=dict(options.env),
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(patience_s=4.0)

    def ensure_alive(self) -> None:
        """Raise SpecError with the log's last lines when the worker has ended by itself."""
        code = self._process.poll()
        if code is not None:
            lines = self._log_path.read_text(errors="replace").strip().splitlines()[-_LOG_LINES:]
            raise SpecError(f"the worker ended with code {code}; see {self._log_path}:\n  " + "\n  ".join(lines))

    def stop(self, patience_s: float) -> None:
        """End the worker: running cells get `patience_s` to record what they have, then all of it is killed."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(patience_s)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
