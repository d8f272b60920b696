"""What the line's tests do while a cell is at work."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import Farm
from tests.services.waiting import wait_until
from worker.cell.ports import Timing
from worker.cell.recording import LineEnd

Make = Callable[..., Farm]
Run = Callable[..., LineEnd]
FAST = Timing(lease_ttl_s=2.0, beat_s=0.1, poll_s=0.05)
LONG: dict[str, Any] = {"run": {"command": "touch /cell/out/started; sleep 600"}}


def marked_processes(mark: str) -> list[str]:
    """Every process of this machine whose command line holds `mark`, but this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line:
                found.append(entry.name)
    return found


def when_working(farm: Farm, do: Callable[[], object]) -> None:
    """Call `do` once the session's command has run so far that it left its mark."""

    def wait() -> None:
        wait_until(lambda: bool(list(farm.root.glob("cells/*/*/out/started"))))
        do()

    when_started(farm, threading.Thread(target=wait, daemon=True).start)


def when_started(farm: Farm, do: Callable[[], None]) -> None:
    """Replace the sandbox by one that calls `do` when the first session starts."""

    def before(number: int, _: object) -> None:
        if number == 1:
            do()

    farm.sandbox = HookedSandbox(farm.sandbox, before)
