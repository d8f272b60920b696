"""Death, shown by effect: a tree of daemons that ignore signals leaves beats in a file for as long as one of it lives.

Each drill waits for the beats of all before it does anything: that they are seen is its control.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends.drills import LIMITS, told
from sandbox.backends.lifeline_drill import Lived
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError, SandboxUnhealthyError
from sandbox.spec import Bind, ExitKind, Probe, Sandbox, SandboxSpec

_OUT = "/cell/out"
_DAEMONS = 4
_TREE = f"""
trap '' TERM HUP INT
for name in 1 2 3 4; do
    (setsid sh -c 'while :; do echo beat >> {_OUT}/beats; : > {_OUT}/up-'$name'; sleep 0.02; done' &)
done
sleep 60
"""
_DEATH_S = 5.0
_SILENCE_S = 0.2
"""Ten times as long as a daemon ever keeps silent."""


@dataclass(slots=True)
class _Tree:
    """The daemons, as they are seen in a folder that the slot's guest can write."""

    backend: Sandbox
    out: Path
    stood_at: float | None = None

    def run(self, stop: Callable[[], bool]) -> str:
        """Run them, and say in words how that ended. Raises SandboxUnhealthyError."""
        for left in self.out.iterdir():
            left.unlink()
        bind = Bind(self.out, _OUT, writable=True)
        spec = SandboxSpec(argv=("/bin/sh", "-c", _TREE), binds=(bind,), limits=LIMITS, cwd="/")
        try:
            exit_ = self.backend.run(spec, lambda _stream, _chunk: None, stop)
        except SandboxUnhealthyError:
            raise
        except SandboxError as error:  # without its lifeline no run can tell how it ended
            return str(error)
        return "" if exit_.kind is ExitKind.STOPPED else told(exit_)

    def stands(self) -> bool:
        """Tell whether all of it have been seen; from then on they are to die."""
        if self.stood_at is None and len(list(self.out.glob("up-*"))) == _DAEMONS:
            self.stood_at = time.monotonic()
        return self.stood_at is not None

    def falls_silent(self, within_s: float) -> bool:
        """Wait until nobody beats; False when that does not come."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            size = self.beats()
            time.sleep(_SILENCE_S)
            if self.beats() == size:
                return True
        return False

    def beats(self) -> int:
        """Tell how far they have come."""
        return (self.out / "beats").stat().st_size


def killing(backend: Sandbox, out: Path, within_s: float = _DEATH_S) -> Probe:
    """Stop a tree of daemons; nobody of it beats once the run has ended."""
    tree = _Tree(backend, out)
    ended = tree.run(tree.stands)
    if tree.stood_at is None:
        return Probe("kill drill", ok=False, detail=f"the drill did not start: {ended}", fix=REPORT)
    took_s, beats = time.monotonic() - tree.stood_at, tree.beats()
    if not tree.falls_silent(within_s) or tree.beats() != beats:
        return Probe("kill drill", ok=False, detail="a tree of daemons outlives its run", fix=REPORT)
    return Probe("kill drill", ok=took_s < within_s, detail=f"a tree of daemons was dead in {took_s:.2f} s", fix=REPORT)


def lifeline(backend: Lived, out: Path, within_s: float = _DEATH_S) -> Probe:
    """Cut the lifeline of a tree of daemons and do nothing else; the kernel does the same when the worker dies."""
    tree, fell = _Tree(backend, out), list[bool]()

    def cut() -> bool:
        if tree.stands():
            backend.cut_lifeline()
            fell.append(tree.falls_silent(within_s))
        return bool(fell)

    ended = tree.run(cut)
    if not fell:
        return Probe("lifeline", ok=False, detail=f"the drill did not start: {ended}", fix=REPORT)
    if not fell[0]:
        return Probe(
            "lifeline", ok=False, detail=f"a tree of daemons lives {within_s:.0f} s after it was cut", fix=REPORT
        )
    return Probe("lifeline", ok=True, detail="a tree of daemons lived while it was open, and was dead soon after")
