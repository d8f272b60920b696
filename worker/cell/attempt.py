"""One attempt under way: what it has kept, how long its stages took, and who it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from farm.model import DoorReport, Evidence, Fault, RetryPolicy, StageTime
from farm.ports import Clock
from worker.cell.narration import Narration
from worker.cell.ports import Claimed
from worker.collect.keeper import Keeper
from worker.session import ArtifactError, ArtifactProblem


@dataclass(frozen=True, slots=True)
class Attempt:
    """The attempt's own notebook."""

    claimed: Claimed
    clock: Clock
    started_at: datetime
    narration: Narration
    keeper: Keeper = field(default_factory=Keeper)
    stages: list[StageTime] = field(default_factory=list)
    doors: list[DoorReport | None] = field(default_factory=list)
    """Of each session that was begun, whatever became of it; None: it had no door."""
    artifacts: dict[str, bytes | ArtifactProblem] = field(default_factory=dict)
    """What phases were to write, by role, as it was when their session was dead."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage of the line."""
        began = self.clock.monotonic()
        try:
            yield
        finally:
            self.stages.append(StageTime(stage=name, seconds=round(self.clock.monotonic() - began, 6)))

    def artifact(self, role: str) -> bytes:
        """Give a phase's artifact; raise ArtifactError when it is not there as it must be."""
        found = self.artifacts.get(role, ArtifactProblem.NEVER_WRITTEN)
        if isinstance(found, ArtifactProblem):
            raise ArtifactError(role, found)
        return found

    def known_doors(self) -> tuple[DoorReport, ...] | None:
        """Give the sessions' doors; None when one session had none."""
        known = tuple(door for door in self.doors if door is not None)
        return known if len(known) == len(self.doors) else None


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of an attempt: evidence, or a fault; and the policy that says whether another follows it."""

    retry: RetryPolicy
    evidence: Evidence | None = None
    fault: Fault | None = None
