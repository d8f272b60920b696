"""What a container used: read from its control group, which the engine made and which is gone with it.

Where the group can't be seen from here, the engine is asked, which knows less of it.
"""

from collections.abc import Callable
from dataclasses import replace

from sandbox import limits
from sandbox.backends.docker.engine import Engine
from sandbox.limits import Group, Usage

NOTHING_KNOWN = Usage(None, None, None, ())


class Meter:
    """The account of a container whose init was started and has not begun."""

    def __init__(self, group: Group | None, ask: Callable[[], Usage]) -> None:
        """Look for the first time: what was used so far, the engine's own start used."""
        self.groups = () if group is None else (group,)
        self._read = ask if group is None else group.usage
        self._start_s = self._read().cpu_s or 0.0
        self._used = NOTHING_KNOWN

    def look(self) -> None:
        """Keep what has been used by now."""
        self._used = self._read()

    @property
    def used(self) -> Usage:
        """Give what had been used at the last look; the peaks are never less than what the start took."""
        cpu_s = self._used.cpu_s
        return replace(self._used, cpu_s=None if cpu_s is None else max(0.0, cpu_s - self._start_s))


def meter(engine: Engine, container: str) -> Meter:
    """Begin the account of a container that was just started."""
    return Meter(limits.of_process(engine.pid(container), container), lambda: engine.usage(container))
