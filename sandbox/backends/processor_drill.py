"""Processor time, shown by effect: a guest computes with a twentieth of a processor, and with all that it can get.

How long something takes says nothing on a busy machine, where who is not held back waits as long. So the kernel's own
account of the group is asked: how much time it used, which can't be more than its share, however much or little else
runs; and whether it was ever stopped for having had its share, which happens to nobody without one. What a busy machine
can hide is that either is seen at all. Then it is tried again, each time for longer, until a group once gets more than
the share.

Where that never came within the patience, nothing is proven, and the drill fails: it can't be told from a cap that was
left out, and a worker started on hope would let its cells distort each other for as long as it lives. Its fix is to
look again, not a report of a broken host.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sandbox.backends.drills import LIMITS, system_python, told
from sandbox.backends.verdicts import REPORT
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind, Probe, Sandbox, SandboxSpec

_SHARE: Final = 0.05
_OVERRUN_S: Final = 0.02
"""What a group may have beyond its share of a run's time: the share of a period that had begun, and a clock tick of
10 ms, at which the kernel finds out, on either side of it."""
_BURN_S = 0.02
_FREE_TIMES = 3
"""The control computes longer, which costs it little: its use must rise above the overrun as well."""
_PATIENCE_S = 8.0
_WALL_S = 5.0
"""For one burn; what it used until then counts as well."""
_BUSY = "look again when this machine has less to do"


@dataclass(frozen=True, slots=True)
class Burn:
    """What the kernel accounted to a guest that computed."""

    used_s: float
    wall_s: float
    was_stopped: bool
    """Whether it was kept from computing for having had its share."""

    @property
    def is_beyond_share(self) -> bool:
        """Tell whether it used more than anybody can who is held to the share."""
        return self.used_s > _SHARE * self.wall_s + _OVERRUN_S


class Ruling(StrEnum):
    """What two burns prove."""

    HELD = "held"
    LOOSE = "loose"
    UNSEEN = "unseen"
    """Nothing: neither was seen to get as much as the share."""


def ruling(held: Burn, free: Burn) -> Ruling:
    """Compare a burn with the share and one without; the load of the machine can make it UNSEEN, never LOOSE."""
    if held.is_beyond_share:
        return Ruling.LOOSE
    is_seen = held.was_stopped and free.is_beyond_share and not free.was_stopped
    return Ruling.HELD if is_seen else Ruling.UNSEEN


Burner = Callable[[float], tuple[str, ...]]
"""Gives the command that computes for so many seconds of processor time."""


def in_python(burn_s: float) -> tuple[str, ...]:
    """Give the burner of sandboxes that have the host's /usr."""
    return (system_python(), "-I", "-S", "-B", "-c", f"import time\nwhile time.process_time() < {burn_s}: pass")


def in_shell(burn_s: float) -> tuple[str, ...]:
    """Give the burner of sandboxes that have a shell."""
    turn = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); done"
    ask = f"read used rest </proc/self/schedstat; [ $used -lt {round(burn_s * 1e9)} ]"
    return ("/bin/sh", "-ec", f"while {ask}; do {turn}; done")


def processors(backend: Sandbox, burner: Burner = in_python, patience_s: float = _PATIENCE_S) -> Probe:
    """Look at what a guest gets with the share, and without one as the control."""
    if backend.facts()["limits"] == "rlimits only":
        return Probe("processor time", ok=True, detail=f"not held, rlimits only: {backend.facts()['no_cgroups']}")
    until, burn_s = time.monotonic() + patience_s, _BURN_S
    while True:
        held = _burn(backend, burner(burn_s), _SHARE)
        free = _burn(backend, burner(_FREE_TIMES * burn_s), None)
        found = ruling(held, free)
        if found is not Ruling.UNSEEN or time.monotonic() > until:
            return _probe(found, held, free)
        burn_s *= 2


def _probe(found: Ruling, held: Burn, free: Burn) -> Probe:
    detail = (
        f"with a twentieth of a processor {held.used_s:.2f} s were used in {held.wall_s:.2f} s, "
        f"without {free.used_s:.2f} s in {free.wall_s:.2f} s"
    )
    if found is Ruling.UNSEEN:
        return Probe("processor time", ok=False, detail=f"can't be told on a machine this busy: {detail}", fix=_BUSY)
    return Probe("processor time", ok=found is Ruling.HELD, detail=detail, fix=REPORT)


def _burn(backend: Sandbox, argv: tuple[str, ...], cpus: float | None) -> Burn:
    spec = SandboxSpec(argv=argv, binds=(), limits=replace(LIMITS, wall_s=_WALL_S, cpus=cpus), cwd="/")
    return _accounted(backend.run(spec, lambda _stream, _chunk: None, lambda: False))


def _accounted(exit_: Exit) -> Burn:
    is_over = (exit_.kind, exit_.code) == (ExitKind.EXITED, 0) or exit_.limit == "wall"
    if not is_over or exit_.cpu_s is None:
        raise SandboxError(f"the drill for processors did not finish, or nothing was accounted to it: {told(exit_)}")
    return Burn(exit_.cpu_s, exit_.wall_s, "processors" in exit_.limits_touched)
