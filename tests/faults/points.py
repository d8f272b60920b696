"""Points at which a test may break a process of the farm, and what it does there: of the tests alone.

A test arms a point by a file; whichever process comes by first takes the file away, does what it says, and nobody does
it again. The points are passed by a store (`hooked-s3://…`) and by the tests' own coordinator, which nothing else uses.
"""

import json
import os
import re
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

PLACE = "FARM_TEST_POINTS"
"""The variable that names the folder."""
_LIMIT_S = 30.0
_ATTEMPT = re.compile(r"sweeps/([^/]+)/attempts/([^/]+)/\d+/(claim|outcome|cleanup)\.json")
_RESULT = re.compile(r"sweeps/([^/]+)/results/([^/]+)\.json")
_OTHER = re.compile(r"sweeps/([^/]+)/(?:(verdicts|report)/)?([^/]+)\.\w+")
EXIT_CODE = 70


@dataclass(frozen=True)
class Passing:
    """Who passes which point: for instance `before outcome`, of one cell."""

    point: str
    sweep: str = ""
    cell: str = ""


@dataclass(frozen=True)
class Armed:
    """What happens at a point: `exit`, `kill` and `segv` end the process, `wait` lets it wait to be let go."""

    point: str
    action: str
    sweep: str = ""
    cell: str = ""

    def meets(self, passing: Passing) -> bool:
        return self.point == passing.point and self.sweep in {"", passing.sweep} and self.cell in {"", passing.cell}


class Points:
    """The folder of armed points."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def arm(self, armed: Armed, times: int = 1) -> None:
        """Let `armed` happen so many times."""
        for _ in range(times):
            name = f"{time.monotonic_ns()}"
            draft = self._folder / f"{name}.draft"
            draft.write_text(json.dumps(asdict(armed)))
            draft.rename(self._folder / f"{name}.armed")

    def disarm(self) -> None:
        """Let nothing more happen, and let go whoever waits."""
        for path in self._folder.glob("*.armed"):
            path.unlink(missing_ok=True)
        for path in self._folder.glob("*.waits"):
            path.unlink(missing_ok=True)

    def fired(self) -> int:
        """Count what has happened so far."""
        return len(list(self._folder.glob("*.fired")))

    def waiting(self) -> list[int]:
        """Name the processes that wait at a point."""
        return [int(path.read_text()) for path in self._folder.glob("*.waits")]

    def clear(self) -> None:
        """Forget everything."""
        self.disarm()
        for path in self._folder.glob("*.fired"):
            path.unlink()

    def passed(self, passing: Passing) -> None:
        """Come by a point, in a process of the farm."""
        for name in os.listdir(self._folder):  # noqa: PTH208 (at every call of the store)
            if name.endswith(".armed"):
                self._meet(self._folder / name, passing)

    def _meet(self, path: Path, passing: Passing) -> None:
        fired = path.with_suffix(".fired")
        try:
            armed = Armed(**json.loads(path.read_text()))
            if not armed.meets(passing):
                return
            path.rename(fired)  # one alone can
        except FileNotFoundError:
            return
        self._act(armed.action, path.with_suffix(".waits"))

    def _act(self, action: str, waits: Path) -> None:
        match action:
            case "exit":
                os._exit(EXIT_CODE)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "segv":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "kill main":
                os.kill(os.getppid(), signal.SIGKILL)
                time.sleep(_LIMIT_S)  # we die with it
            case "wait":
                draft = waits.with_suffix(".draft")
                draft.write_text(f"{os.getpid()}")
                draft.rename(waits)
                until = time.monotonic() + _LIMIT_S
                while waits.exists() and time.monotonic() < until:
                    time.sleep(0.01)
            case _:
                raise AssertionError(action)


def passing(when: str, key: str) -> Passing:
    """Say which point a record's key is: `before claim`, `after result`, `before seal` …"""
    if found := _ATTEMPT.fullmatch(key):
        return Passing(f"{when} {found[3]}", found[1], found[2])
    if found := _RESULT.fullmatch(key):
        return Passing(f"{when} result", found[1], found[2])
    found = _OTHER.fullmatch(key)
    assert found is not None, key
    name = {"cleanup": "sweep's cleanup"}.get(found[3], found[3])
    return Passing(f"{when} {found[2] or name}", found[1])
