"""Evidence: everything that one attempt proved, by digest; and the outcome that carries it or a fault."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue, model_validator

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.door import DoorReport
from farm.model.fault import Fault
from farm.model.governed import Governed
from farm.model.metric import Measured, Number
from farm.model.names import CellId, Name, SweepId
from farm.model.origin import Origin
from farm.model.sums import known_sum

Tokens = Annotated[int, Field(strict=True, ge=0)]


class Artifact(Value):
    """A named output: role, media type, digest, size."""

    role: str
    """`session.work.events`, `patch`, `oracle.stdout`, …; unique within an outcome."""
    media_type: str
    digest: Digest
    size_bytes: int
    truncated: bool = False
    redacted: bool = False
    """Secrets were taken out of it: the digest is of what is left."""


class ExitKind(StrEnum):
    """How a sandboxed process ended."""

    EXITED = "exited"
    SIGNALED = "signaled"
    LIMIT = "limit"
    STOPPED = "stopped"
    """We stopped it: cancel, deadline, lost lease."""


class ProcessExit(Value):
    """The end of one sandboxed process tree, as data."""

    kind: ExitKind
    code: int | None = None
    signal: int | None = None
    limit: str | None = None
    """wall, output, memory, …: which limit was reached."""
    wall_s: float
    cpu_s: float | None = None
    peak_memory_bytes: int | None = None
    peak_processes: int | None = None
    """Of the whole tree, the sandbox's own two or three included."""
    peak_disk_bytes: int | None = None
    peak_inodes: int | None = None
    """Of the cell's disk, all that was on it, as it was seen every 0.1 s and at the end; None without one."""
    limits_touched: tuple[str, ...] = ()
    """memory, processes, processors, disk, inodes: run into at least once, whether or not that ended anything;
    file_size where it ended the command; tmp where a /tmp with a size of its own was full when that had ended."""

    @property
    def is_zero(self) -> bool:
        return self.kind is ExitKind.EXITED and self.code == 0


class Usage(Value):
    """Tokens as the provider or the CLI reported them, summed over requests. None: nobody said."""

    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    thinking_tokens: Tokens | None = None


class ExitReason(StrEnum):
    """Our own words for how a session ended; any other is its agent's, with `agent_` before one that is ours too."""

    SUCCESS = "success"
    WALL_LIMIT = "wall_limit"
    """The session's own limit of time; the sweep's deadline is a stop order."""
    OUTPUT_LIMIT = "output_limit"
    LIMIT = "limit"
    """Another limit of the sandbox; the exit says which."""
    BUDGET_LIMIT = "budget_limit"
    """The cell's own: the door let no further request through."""
    STOPPED = "stopped"
    """By an order of ours: cancel, deadline, lost lease."""
    CRASHED = "crashed"
    STREAM_INVALID = "stream_invalid"
    NO_TERMINAL = "no_terminal"
    TWO_TERMINALS = "two_terminals"
    ERROR_FLAG = "error_flag"
    """The terminal event says that the agent failed, and has no word for it."""
    BLANK_ANSWER = "blank_answer"
    SKILL_NOT_INVOKED = "skill-not-invoked"
    """All went well, but the skill that the arm requires was never used with success."""
    SKILL_UNVERIFIED = "skill-unverified"
    """The stream contradicts itself about that skill."""


_UNSOUND = frozenset(
    {
        ExitReason.CRASHED,
        ExitReason.STREAM_INVALID,
        ExitReason.NO_TERMINAL,
        ExitReason.TWO_TERMINALS,
        ExitReason.ERROR_FLAG,
        ExitReason.SKILL_NOT_INVOKED,
        ExitReason.SKILL_UNVERIFIED,
    }
)


class SessionReport(Value):
    """One agent process, as its own event stream and exit tell it."""

    name: str
    exit: ProcessExit
    reason: str
    """How it ended: an ExitReason, or the agent's own word (`error_max_turns`, …)."""
    problem: str | None = None
    """What is wrong with the stream or the ending; None for a clean success."""
    final_answer: str | None = None
    turns: int | None = None
    tool_calls: dict[str, int] | None = None
    usage: Usage | None = None
    """As the agent says it."""
    cost_usd: Decimal | None = None
    """As the agent says it."""
    model: str | None = None
    session_id: str | None = None
    door: DoorReport | None = None
    """What the gateway metered at the provider's side; None: the session had no door."""

    @property
    def metered_usage(self) -> Usage | None:
        """The tokens that count: the door's where there is one, whatever the agent says, else the agent's."""
        if self.door is None:
            return self.usage
        tokens = self.door.tokens
        return Usage(
            input_tokens=tokens.whole,
            cached_input_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
            thinking_tokens=tokens.reasoning,
        )

    @property
    def metered_cost_usd(self) -> Decimal | None:
        """The cost that counts: by the plan's prices at the door where there are both, else what the agent says."""
        return self.door.cost_usd if self.door is not None and self.door.is_priced else self.cost_usd


class CheckRun(Value):
    """The visible verify, run after the sessions: recorded, never counted."""

    exit: ProcessExit


class OracleFinding(Value):
    """What the hidden oracle said."""

    correct: bool | None
    """None when the check could not be completed; `problem` says why."""
    answer_error: str | None = None
    """The check's own message about a wrong answer."""
    problem: str | None = None
    numbers: dict[str, Number] = {}
    exit: ProcessExit | None = None


class ScopeFinding(Value):
    """Paths changed against the task's scope, before and after the oracle ran."""

    before_oracle: tuple[str, ...] = ()
    after_oracle: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        return not self.before_oracle and not self.after_oracle


class Churn(Value):
    """How much the sessions changed in the workspace. A file that moved is one removed and one added.

    What an arm's program does not call work, such as the plan that it asks for, is in the patch and not in here.
    """

    files: int
    """Files and links that were added, changed or removed."""
    added_lines: int | None
    removed_lines: int | None
    """Lines of text as git counts them; None when not every changed file could be counted."""
    binary_files: int | None
    """Among the files, those that git takes for binary: they have no lines."""
    repositories: tuple[str, ...] = ()
    """What is called .git inside the workspace, the first fifty: named, never opened, in neither patch nor counts."""
    fingerprint: Digest | None = None
    """Of the counted files as they were left: paths, modes, bytes. None: there is none, or one could not be read."""

    @property
    def counts(self) -> "Churn":
        """Give the same without its fingerprint."""
        return self.model_copy(update={"fingerprint": None})


class StageTime(Value):
    """How long one stage of the line took."""

    stage: str
    seconds: float


class Evidence(Value):
    """What an attempt proved."""

    lock: Digest
    sandbox: dict[str, JsonValue]
    """Backend, versions, digests, how limits are enforced: the backend's own facts."""
    workspace_before: Digest
    workspace_after: Digest | None
    """None: the sessions left what we do not take in, and `workspace_limit` says why."""
    workspace_limit: str | None = None
    """workspace_bytes, workspace_files, workspace_depth, workspace_unreadable: which bound of ours they broke."""
    sessions: tuple[SessionReport, ...]
    verify: CheckRun | None = None
    oracle: OracleFinding
    scope: ScopeFinding
    churn: Churn | None = None
    """None: nobody counted."""
    metrics: tuple[Measured, ...] = ()
    builds: dict[Name, Digest] = {}
    """What the task's builds had made, by their names: the bytes that the cell saw."""
    governed: Governed | None = None
    """What the run claimed and how it was governed; None: its program asks for no claim."""

    @property
    def is_sound(self) -> bool:
        """Say whether it can be read as an answer, right or wrong.

        Each session gave one whole stream and used the skill that it had to, and the scope was kept. One that reached
        a limit did what it did within it.
        """
        return self.scope.is_kept and all(session.reason not in _UNSOUND for session in self.sessions)

    @property
    def cost_usd(self) -> Decimal | None:
        """Sum the sessions' cost; None when that of one is unknown, or when there was no session."""
        return known_sum(session.metered_cost_usd for session in self.sessions)

    @property
    def duration_s(self) -> float | None:
        """Sum the sessions' wall time; None when there was no session."""
        return sum(session.exit.wall_s for session in self.sessions) if self.sessions else None


class AttemptCleanup(Value):
    """attempts/<cell>/<n>/cleanup.json: whether the worker removed the workspace, after the outcome was recorded.

    For a worker that died it is the next one on its host that removes the workspace and says so.
    """

    cell: CellId
    attempt: int
    done: bool
    problem: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    """What the sessions of a worker that died had said so far."""


class Outcome(Value):
    """outcome.json: the evidence or the fault of one attempt; always kept."""

    sweep: SweepId
    plan: Digest
    cell: CellId
    attempt: int
    host: str
    holder: str
    started_at: datetime
    ended_at: datetime
    evidence: Evidence | None = None
    fault: Fault | None = None
    artifacts: tuple[Artifact, ...] = ()
    stages: tuple[StageTime, ...] = ()
    doors: tuple[DoorReport, ...] | None = None
    """Of every session that was begun, where a fault keeps their reports back. None: nobody knows what they spent."""
    origin: Origin | None = None
    """Set when this was measured in an earlier sweep, and taken over."""
    late: bool = False
    """Recorded after the sweep had settled: kept, never counted."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "Outcome":
        if (self.evidence is None) == (self.fault is None):
            raise ValueError("an outcome holds evidence or a fault, and not both")
        return self

    @property
    def is_usable(self) -> bool:
        return self.evidence is not None

    @property
    def is_sound(self) -> bool:
        """Say whether it is evidence that can be read as an answer: what is not, in a row, trips the breaker.

        What was taken over says nothing against today's measuring.
        """
        return self.evidence is not None and (self.origin is not None or self.evidence.is_sound)

    @property
    def cost_usd(self) -> Decimal | None:
        """What the attempt cost, whether or not it counts; None when that of one session is unknown.

        What was taken over cost nothing here: its evidence knows what it once cost.
        """
        if self.origin is not None:
            return Decimal(0)
        if self.evidence is not None:
            return self.evidence.cost_usd
        if self.doors is None:
            return None
        return known_sum(door.cost_usd for door in self.doors) if self.doors else Decimal(0)

    @property
    def tokens(self) -> int | None:
        """What the attempt used at its providers, whether or not it counts; None when a part of it is not known."""
        if self.origin is not None:
            return 0
        doors = self.doors if self.evidence is None else tuple(session.door for session in self.evidence.sessions)
        if doors is None or None in doors:
            return None
        return known_sum(door.tokens.total for door in doors if door is not None) if doors else 0

    @property
    def is_interrupted(self) -> bool:
        return self.fault is not None and self.fault.is_open
