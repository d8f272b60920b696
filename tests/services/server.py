"""One real server process, which tests may kill and start again."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_TRIES = 3
_STOP_S = 30


@dataclass
class ServerProcess:
    """A server that `command` starts, on ports that it picks anew until it gets them."""

    command: Callable[[], list[str]]
    answers: Callable[[], bool]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    start_s: float = 30.0
    _process: subprocess.Popen[bytes] | None = None
    _arguments: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Start it for the first time, on ports of its own."""
        for _ in range(_TRIES):
            self._arguments = self.command()
            if self._launch():
                return
        raise AssertionError(f"{self._arguments[0]} did not start: {self.log.read_text(errors='replace')[-2000:]}")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start_again(self) -> None:
        """Start it as before: the same ports, the same data."""
        assert self._launch(), f"it did not start again: {self.log.read_text(errors='replace')[-2000:]}"

    def stop(self) -> None:
        """Ask it to end and wait."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Make it hang."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Make it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.wait(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _launch(self) -> bool:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=dict(self.env) or None
            )
        until = time.monotonic() + self.start_s
        while time.monotonic() < until and self._process.poll() is None:
            if self.answers():
                return True
            time.sleep(0.02)
        self.kill()
        return False
