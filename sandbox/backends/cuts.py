"""When a run must be ended that has not ended by itself: the same for every backend, whatever it waits on."""

import math
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sandbox.limits import Group, Usage
from sandbox.spec import Exit, ExitKind, Limits
from sandbox.streams import Capped, over_cap

_ASK_S = 0.08
"""Stop is promised to be asked at least every 0.1 s."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Why we end what has not ended."""

    kind: ExitKind
    limit: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What nobody tells us, so that we ask now and then."""

    must_stop: Callable[[], bool]
    groups: tuple[Group, ...] = ()
    """Whether their memory was used up: on version 1 of control groups the rest of the tree lives on."""

    def of(self, group: Group) -> "Asked":
        """Ask this group as well."""
        return replace(self, groups=(*self.groups, group))


class Cuts:
    """The wall timer, the caps, the stop and the memory of one run, from now on."""

    def __init__(self, limits: Limits, outputs: Iterable[Capped], asked: Asked) -> None:
        self._outputs = tuple(outputs)
        self._asked = asked
        self._wall = time.monotonic() + limits.wall_s
        self._ask = 0.0

    def due(self) -> Cut | None:
        """Give the reason to end the run now."""
        now, late = time.monotonic(), late_cut(self._outputs)
        if late is not None:
            return late
        if now >= self._wall:
            return Cut(ExitKind.LIMIT, "wall")
        if now >= self._ask:
            self._ask = now + _ASK_S
            if self._asked.must_stop():
                return Cut(ExitKind.STOPPED)
            if any(group.has_run_out() for group in self._asked.groups):
                return Cut(ExitKind.LIMIT, "memory")
        return None

    def rest_ms(self) -> int:
        """Tell how long to wait at most before `due` is asked again."""
        return math.ceil(max(0.0, min(self._ask, self._wall) - time.monotonic()) * 1000)


def by_signal(number: int, wall_s: float, cpu_s: float | None) -> Exit:
    """Give the end of a command that a signal ended; the kernel sends one of them for nothing but a file too large."""
    touched = ("file_size",) if number == signal.SIGXFSZ else ()
    return Exit(kind=ExitKind.SIGNALED, signal=number, wall_s=wall_s, cpu_s=cpu_s, limits_touched=touched)


def late_cut(outputs: Iterable[Capped], usage: Usage | None = None) -> Cut | None:
    """Tell of a cap that was passed, maybe with the last words of what is dead, or of memory that it used up."""
    if over_cap(outputs):
        return Cut(ExitKind.LIMIT, "output")
    return Cut(ExitKind.LIMIT, "memory") if usage is not None and "memory" in usage.touched else None


def with_usage(exit_: Exit, usage: Usage) -> Exit:
    """Put the account of a whole tree in its end's place of it."""
    return replace(
        exit_,
        cpu_s=exit_.cpu_s if usage.cpu_s is None else usage.cpu_s,
        peak_memory_bytes=usage.peak_memory_bytes,
        peak_processes=usage.peak_processes,
        limits_touched=tuple(dict.fromkeys((*exit_.limits_touched, *usage.touched))),
    )
