"""The lifeline, shown by effect: a tree of daemons lives while it is open, and is dead once it is closed.

Closing is all that is done; the kernel does the same when the worker dies. So nobody is killed, and the run is not
ended, before the lock that the daemons hold has told how it went.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox.backends.drills import is_locked, told, witness_spec
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError, SandboxUnhealthyError
from sandbox.spec import Bind, Probe, Sandbox, Stream

_NAME = "lifeline"
_OPEN_S = 0.02
"""The control: so long at least they have to live while it is open."""
_DEATH_S = 5.0
_AGAIN_S = 0.001


class Lived(Sandbox, Protocol):
    """A backend whose guests hang on a lifeline."""

    def cut_lifeline(self) -> None:
        """Close the lifeline and do nothing else."""
        ...


@dataclass(slots=True)
class _Cutter:
    """Asked by the run whether to stop, it looks at the daemons, cuts, and looks again."""

    backend: Lived
    lock: Path
    within_s: float
    is_ready: bool = False
    has_cut: bool = False
    died_s: float | None = None

    def __call__(self) -> bool:
        """Tell whether all that is to be seen was seen, or nothing can be."""
        if self.is_ready and self._lives_while_open():
            self.backend.cut_lifeline()
            self.has_cut = True
            self.died_s = _seconds_to_death(self.lock, self.within_s)
        return self.is_ready

    def _lives_while_open(self) -> bool:
        lived = is_locked(self.lock)
        time.sleep(_OPEN_S)
        return lived and is_locked(self.lock)


def lifeline(backend: Lived, out: Path, binds: tuple[Bind, ...], within_s: float = _DEATH_S) -> Probe:
    """Let a tree of daemons that ignore signals stand, and cut its lifeline; `out` is the bind where their lock is."""
    cutter = _Cutter(backend, out / "lock", within_s)
    try:
        ended = _run(cutter, binds)
    except SandboxUnhealthyError as error:
        return Probe(_NAME, ok=False, detail=str(error), fix=REPORT)
    finally:
        with suppress(SandboxUnhealthyError):  # that the spawner lives on is told already, by who hangs on it
            backend.close()
    if not cutter.has_cut:
        return Probe(_NAME, ok=False, detail=f"the drill did not start: {ended}", fix=REPORT)
    if cutter.died_s is None:
        detail = f"a tree of daemons lives on {within_s:.0f} s after it was closed"
        return Probe(_NAME, ok=False, detail=detail, fix=REPORT)
    detail = f"a tree of daemons lived while it was open, and was dead {cutter.died_s:.2f} s after"
    return Probe(_NAME, ok=True, detail=detail)


def _run(cutter: _Cutter, binds: tuple[Bind, ...]) -> str:
    """Run the daemons to their end and say how it was."""

    def hear(stream: Stream, _chunk: bytes) -> None:
        cutter.is_ready |= stream is Stream.STDOUT

    try:
        return told(cutter.backend.run(witness_spec(binds, "drill"), hear, cutter))
    except SandboxUnhealthyError:
        raise
    except SandboxError as error:  # without its spawner no run can tell how it ended
        return str(error)


def _seconds_to_death(lock: Path, within_s: float) -> float | None:
    started = time.monotonic()
    while is_locked(lock):
        if time.monotonic() > started + within_s:
            return None
        time.sleep(_AGAIN_S)
    return time.monotonic() - started
