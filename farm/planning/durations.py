"""Read a table of expected durations.

tasks:
  fix-parser:
    baseline: 310        # seconds within which nine in ten cells' sessions end
    candidate: {p50_s: 180, p90_s: 280, n: 12, agent: claude-code, model: claude-opus-4-5}   # for that agent alone
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from farm.model import Arm, Duration, Expected, Name, Value, model_of, most_s
from farm.planning.table_file import read_table

_Entry = Duration | Annotated[tuple[Expected, ...], Field(min_length=1)]


class Durations(Value):
    """Seconds by task and arm; what is not listed is not known."""

    tasks: Annotated[dict[Name, dict[Name, _Entry]], Field(min_length=1)]

    def most_s(self) -> Mapping[str, Mapping[str, float]]:
        """Give the longest that is listed for each task and arm, whatever the agent."""
        return {
            task: {arm: max(map(most_s, _listed(entry))) for arm, entry in by_arm.items()}
            for task, by_arm in self.tasks.items()
        }

    def of(self, task: str, arm: Arm) -> Duration | None:
        """Give what is known of the arm's cells, else of its agent and model under another arm's name."""
        by_arm = self.tasks.get(task, {})
        if arm.name in by_arm:
            own = [one for one in _listed(by_arm[arm.name]) if _speaks_of(one, arm)]
            return max(own, key=most_s, default=None)
        alike = [
            one
            for entry in by_arm.values()
            for one in _listed(entry)
            if isinstance(one, Expected) and one.agent is not None and _speaks_of(one, arm)
        ]
        return max(alike, key=most_s, default=None)


def read_durations(path: Path) -> Durations:
    """Read the table at `path`; raise SpecError naming the file, the line and the field."""
    return read_table(path, Durations, "the table of durations")


def _listed(entry: _Entry) -> tuple[Duration, ...]:
    return entry if isinstance(entry, tuple) else (entry,)


def _speaks_of(duration: Duration, arm: Arm) -> bool:
    return not isinstance(duration, Expected) or duration.speaks_of(arm.agent.name, model_of(arm))
