"""The protocols inside a worker: agents, programs and oracles, and the values between them and the line.

A plug-in class is built from its pinned options (`cls(options)`); it raises SpecError for options that are wrong, so
that planning refuses them before anything is paid for. `version` is what the plan pins.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from farm.model import Cell, Digest, Governed, OracleFinding, ProcessExit, SessionReport, Task, Wire
from sandbox.spec import Stream
from worker.checks.file_checks import Found
from worker.phases import Demand, Phase, PhaseEnd, ToolCall

WORKSPACE = "/cell/ws"
OUT = "/cell/out"
HOME = "/home/agent"
KIT = "/cell/kit"
AGENT = "/opt/agent"
"""Where a session finds its agent's own program, when the arm pins a version of it."""
DOOR_PORT = 8080
DOOR_URL = f"http://127.0.0.1:{DOOR_PORT}"
"""Where an agent with a provider finds it, whichever it is; `sandbox.spec.DOOR` is the same as a unix socket."""
DOOR_KEY = "cellfarm-holds-the-real-key"
"""What an agent is given for a key: the gateway puts the real one in its place."""


def asset_path(name: str) -> str:
    """Say where a session finds the arm's asset called `name`: a folder, read-only."""
    return f"/cell/assets/{name}"


def dependency_path(number: int, target: str) -> str:
    """Say where a sandbox finds the task's dependency `number`, from 1, that the workspace has at `target`.

    It keeps its last name: Node looks for packages in folders that are called node_modules.
    """
    return f"/cell/deps/{number}/{target.rpartition('/')[2]}"


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """A CLI that is installed below the worker's agents folder, at <kind>/<version>: seen at AGENT, read-only."""

    kind: str
    version: str


class Counted(StrEnum):
    """What a session's stream sums up at its end."""

    COST = "cost"
    USAGE = "usage"


@dataclass(frozen=True, slots=True)
class Launch:
    """One agent process to start: what the adapter decides, before the sandbox's own plan is added."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    home_files: Mapping[str, bytes] = field(default_factory=dict)
    """Files to lay into the private home before the start, by relative path."""
    home_links: Mapping[str, str] = field(default_factory=dict)
    """Links to lay there as well: where each leads inside the sandbox, by relative path."""
    runs_tools: bool = False
    """The agent runs its tools by `sandbox.spec.TOOL`, in a sandbox of their own without the door."""
    starts_servers: bool = False
    """The agent starts servers by `sandbox.spec.SERVER`, in a sealed sandbox of their own."""
    asset_views: Mapping[str, str] = field(default_factory=dict)
    """Further places, below /cell, at which it sees assets of the arm: an asset's name by each place."""
    models: tuple[str, ...] = ()
    """The only models that the door lets this session ask, sub-agents' tiers included; (): any."""
    carries: tuple[str, ...] = ()
    """What it needs of the home of the session that it goes on with: paths below it, which are moved to its own."""
    counts_on: frozenset[Counted] = frozenset()
    """What its stream sums up over the sessions that it goes on with, too."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What an adapter may know when it builds a launch."""

    name: str
    cell: Cell
    task: Task
    prompt: str
    instructions: str | None
    """The arm's overlay text, to be appended to the agent's own instructions."""
    wire: Wire | None = None
    """The wire to speak at DOOR_URL; None: the session has no door."""
    continues: SessionReport | None = None
    """The session that this one goes on with; only an agent with the option `lasting` is asked to."""


class StreamParser(Protocol):
    """Reads one session's output as it comes; bounded and strict."""

    def feed(self, stream: Stream, chunk: bytes) -> None:
        """Take the next bytes; never raises for what the guest wrote."""
        ...

    def finish(self, exit_: ProcessExit) -> SessionReport:
        """Close the streams and say what the session was."""
        ...


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """How far a session is, as far as its stream tells before its end; None: it does not."""

    turns: int | None = None
    tool_calls: int | None = None
    last: str = ""
    """The beginning of what it last said or did, longer than is shown: it is cut once its secrets are out."""


@runtime_checkable
class Narrating(Protocol):
    """A parser that can say how far its session is."""

    def progress(self) -> SessionProgress:
        """Look; called from another thread than `feed`, at any time."""
        ...


@runtime_checkable
class Witnessing(Protocol):
    """A parser that can say which tools its session called."""

    def calls(self) -> tuple[ToolCall, ...] | None:
        """List the calls once the session is over; None: there were more than are kept."""
        ...


class Agent(Protocol):
    """An adapter for one agent CLI."""

    version: str
    options: dict[str, JsonValue]
    """Normalised: what the plan pins."""
    wires: tuple[Wire, ...]
    """What it can speak to a provider, one of which the arm's provider must speak; (): it asks no model itself."""

    program: AgentProgram | None
    """The CLI that a host must have for it; None: the host's /usr holds what the launch names."""
    assets: tuple[str, ...]
    """The arm's assets that its options name: an arm without one of them is refused."""

    def launch(self, request: SessionRequest) -> Launch:
        """Build the process to start."""
        ...

    def parser(self, name: str) -> StreamParser:
        """Make a fresh parser for the session called `name`."""
        ...


class Standstill(Protocol):
    """What a program may look at between its sessions, while nothing of the cell runs. No session sees any of it."""

    def look(self, path: str) -> Found:
        """Say what stands at `path` in the workspace."""
        ...

    def artifact(self, path: str, most_bytes: int) -> "bytes | ArtifactProblem":
        """Read a file below the output folder."""
        ...

    def verify(self, argv: tuple[str, ...]) -> bool:
        """Run a command of the task's on a copy of the workspace, and say whether it ended well."""
        ...

    def judge(self, sessions: tuple[SessionReport, ...]) -> bool | None:
        """Ask the hidden oracle about the workspace as it is; None: it could not say."""
        ...

    def note(self, line: bytes) -> None:
        """Add a line to the governor's log, which outlives its worker."""
        ...


class Sessions(Protocol):
    """What a program may ask of the line."""

    @property
    def task(self) -> Task:
        """Give the task that the sessions are about."""
        ...

    def run(self, name: str, prompt: str) -> SessionReport:
        """Run one agent session in the cell's sandbox; its streams become artifacts."""
        ...

    def run_phase(self, name: str, prompt: str, phase: Phase) -> PhaseEnd:
        """Run one within the phase's bounds; raises PhaseError when it broke them."""
        ...

    @property
    def still(self) -> Standstill:
        """Give what may be looked at between sessions."""
        ...

    def conclude(self, governed: Governed) -> None:
        """Say what the run claims, and how it was governed: evidence, as the reports are."""
        ...


class Program(Protocol):
    """The fixed sequence of sessions that an arm runs."""

    version: str
    options: dict[str, JsonValue]

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        """Run the sessions in order and return their reports."""
        ...


@runtime_checkable
class Demanding(Protocol):
    """A program whose phases ask something of their agent; planning tries each on it."""

    demands: tuple[Demand, ...]
    """Of each of its sessions, in order: there are no more."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One sandboxed check: its end and its bounded output."""

    exit: ProcessExit
    stdout: bytes
    stderr: bytes
    cut: tuple[Stream, ...] = ()
    """Which of the two went past their limit: what is there is their beginning."""


@dataclass(frozen=True, slots=True)
class Kit:
    """Python sources of ours that a check needs to see: relative paths and bytes, told apart by their digest."""

    digest: Digest
    files: Mapping[str, bytes]


class ArtifactProblem(StrEnum):
    """Why there are no bytes of a file that a session was to write."""

    NEVER_WRITTEN = "it was never written"
    UNREADABLE = "it can't be read"
    IRREGULAR = "it is no regular file of its own"
    TOO_LARGE = "it is larger than may be"
    EMPTY = "it is empty"


class ArtifactError(Exception):
    """An artifact was asked for that is not there as it must be: the session's doing, not ours."""

    def __init__(self, role: str, problem: ArtifactProblem) -> None:
        super().__init__(f"the artifact {role!r}: {problem}")
        self.role = role
        self.problem = problem


@dataclass(frozen=True, slots=True)
class OracleRequest:
    """What an oracle may know: the sessions' reports, and a way to run checks out of the session's reach."""

    task: Task
    sessions: tuple[SessionReport, ...]
    workspace: Path
    """The frozen workspace on the host: read it only by safe means; untrusted bytes."""
    hidden: str | None
    """Where the hidden files are mounted for `check`, inside the verifier's sandbox."""
    nonce: str
    """Random, told to the check alone (FARM_NONCE): what it reports counts only with it."""
    check: Callable[[tuple[str, ...], Mapping[str, str]], CheckResult]
    """Run argv with extra environment in the verifier's sandbox, no session alive; `keep_output` keeps its output."""
    lend: Callable[[Kit], str]
    """Make a kit visible, read-only, to every check that follows; gives its folder inside the verifier's sandbox."""
    artifact: Callable[[str], bytes]
    """Give the bytes that a phase's session left as its artifact of that role; raises ArtifactError."""
    numbers: frozenset[str] = frozenset()
    """Names of the numbers that the plan's metrics read: what else a check reports is not kept without keep_output."""


class Oracle(Protocol):
    """A hidden check."""

    version: str
    options: dict[str, JsonValue]

    def find(self, request: OracleRequest) -> OracleFinding:
        """Say whether the answer is right; what the candidate's code does is data, what we can't do raises."""
        ...
