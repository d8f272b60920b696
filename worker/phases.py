"""What a session of an arm's program may do and must leave, beyond what every session may."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from farm.model import SessionReport
from worker.trees.scan import Changes, Tree


@dataclass(frozen=True, slots=True)
class Demand:
    """What a phase asks of its agent, by the options of these names (that of the skill is `required_skill`).

    An agent that has no such option refuses the demand when its sweep is planned.
    """

    denied_tools: tuple[str, ...] = ()
    skill: str | None = None
    lasting: bool = False
    """A later session goes on with it, where it ended."""

    def merged(self, options: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Give the agent's options with the demand in them."""
        merged = dict(options)
        if self.denied_tools:
            denied = merged.get("denied_tools")
            known = [str(tool) for tool in denied] if isinstance(denied, list) else []
            merged["denied_tools"] = [*known, *(tool for tool in self.denied_tools if tool not in known)]
        if self.skill is not None:
            merged["required_skill"] = self.skill
        if self.lasting:
            merged["lasting"] = True
        return merged


@dataclass(frozen=True, slots=True)
class ArtifactPlace:
    """The one file that a phase is to write: in a folder of its own outside the workspace, made empty by us.

    The file itself is not made before: one that was never written is told from one that was written badly.
    """

    role: str
    folder: str
    """Below the output folder: one plain name."""
    file: str
    media_type: str
    most_bytes: int

    @property
    def path(self) -> str:
        """Give its path below the output folder."""
        return f"{self.folder}/{self.file}"


@dataclass(frozen=True, slots=True)
class Phase:
    """One session's bounds."""

    fault: str = "implementation-evidence-invalid"
    """The first word of what is recorded when they are broken."""
    demand: Demand = Demand()
    is_writable: bool = True
    """Whether the workspace is; when it is not, it is mounted read-only."""
    may_change: tuple[str, ...] | None = None
    """Globs of paths in the workspace; None: any."""
    may_not_change: tuple[str, ...] = ()
    """Globs of paths that stay as they are, whatever else may change."""
    artifact: ArtifactPlace | None = None
    work_beside: tuple[str, ...] | None = None
    """The program is to change something besides what these globs match; None: it need not."""
    continues: str | None = None
    """The earlier session that this one goes on with; the agent is told the prompt as its next turn."""

    @property
    def is_bounded(self) -> bool:
        return not self.is_writable or self.may_change is not None or bool(self.may_not_change)


FREE = Phase()
"""Any change may be made, and nothing is looked at."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a bounded phase changed in the workspace, and what is there now."""

    changes: Changes
    after: Tree


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the agent's own stream tells it."""

    name: str
    arguments: str
    """Their beginning, as JSON."""
    succeeded: bool
    """An answer came, and it is no error."""


@dataclass(frozen=True, slots=True)
class PhaseEnd:
    """How a phase's session ended, within its bounds."""

    report: SessionReport
    footprint: Footprint | None
    """None: the phase has no bounds, and nobody looked."""
    calls: tuple[ToolCall, ...] | None = None
    """Of tools, in their order; None: the agent's stream does not tell each, or there were too many."""


class PhaseError(Exception):
    """A session broke the bounds of its phase: its evidence counts for nothing, and no quality is read from it."""

    def __init__(self, fault: str, session: str, detail: str) -> None:
        super().__init__(f"{fault}: session {session!r} {detail}")
