"""Control groups made ahead, each with a child of the spawner's that is in it already and waits.

To be let into a group of version 2 costs the kernel up to ten milliseconds of waiting, at every start: so it is done
while the run before goes on. At most one pair waits; who finds none makes one. A fork has none of its parent's.
"""

import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from sandbox.errors import SandboxError
from sandbox.limits import Group, Groups
from sandbox.process.spawner import Spawner, Standby


@dataclass(frozen=True, slots=True)
class Spare:
    """What the next run starts in."""

    standby: Standby
    group: Group | None
    owner: int

    def close(self) -> None:
        """Let go of one that was not used."""
        self.standby.close()
        if self.group is not None and self.owner == os.getpid():
            self.group.remove()


class Spares:
    """Gives each run a pair of its own; threads may share it."""

    def __init__(self, spawner: Spawner, groups: Groups | None) -> None:
        self._spawner = spawner
        self._groups = groups
        self._waiting: deque[Spare] = deque()  # append and popleft are atomic

    def take(self) -> Spare:
        """Give a pair. Raises SandboxError."""
        while self._waiting:
            try:
                spare = self._waiting.popleft()
            except IndexError:  # another thread was sooner
                break
            if spare.owner == os.getpid() and spare.standby.is_alive():
                return spare
            spare.close()
        return self._make()

    def make_ready(self) -> None:
        """Make the next pair, unless one waits, waiting would spare nothing, or it can't be: `take` makes its own."""
        if self._groups is not None and not self._waiting:
            with suppress(SandboxError):
                self._waiting.append(self._make())

    def close(self) -> None:
        """Let go of what waits, and of this process's groups."""
        while self._waiting:
            self._waiting.popleft().close()
        if self._groups is not None:
            self._groups.close()

    def _make(self) -> Spare:
        if self._groups is None:
            return Spare(self._spawner.stand(), None, os.getpid())
        group = self._groups.make()
        try:
            return Spare(self._spawner.stand(group.entries), group, os.getpid())
        except BaseException:
            group.remove()
            raise
