"""Tasks as the plan pins them: every input is a digest, so that a worker needs nothing but the store."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.image import ImageName
from farm.model.limits import BuildLimits, CheckLimits, Limits, SetupLimits
from farm.model.names import Name, PlainPath, RelativePath


class Snapshot(Value):
    """One commit's files as a tar blob: no history, no host path."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    tree: Digest
    """A deterministic uncompressed tar of the commit's files."""
    size_bytes: int
    hidden: tuple[str, ...] = ()
    """Globs of the commit's files that the tar leaves out."""


class Command(Value):
    """A program that runs in the sandbox, in the workspace."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    env: dict[str, str] = {}
    limits: CheckLimits = CheckLimits()


MOST_FOLDERS = 16
"""How many dependencies, and how many copies, a task may bring."""


class Dependency(Value):
    """A folder that every sandbox of a cell sees read-only; a link in the workspace leads to it."""

    files: Digest
    """A tar blob."""
    target: PlainPath
    """Where the link stands."""
    scratch: tuple[PlainPath, ...] = ()
    """Folders of it that are empty and writable in each sandbox: some tools keep a cache there."""


class CopiedAsset(Value):
    """Files that the workspace has besides the snapshot's."""

    files: Digest
    """A tar blob of what stands at `target`, all of it at or below that."""
    target: PlainPath


class Setup(Command):
    """What is run in a cell's workspace before its first session; what it changes is nobody's change."""

    limits: SetupLimits = SetupLimits()


Marker = Annotated[str, Field(min_length=1, max_length=256)]


class Build(Command):
    """What is made of a snapshot once, without a network, for every cell that has the same: an index, a library.

    It runs in a workspace of its own, with the task's dependencies and copies and without an arm's overlay. What it
    made is seen as a dependency is.
    """

    name: Name
    output: PlainPath
    """The folder that it makes; nothing may stand there."""
    target: PlainPath | None = None
    """Where the link to it stands in the workspace; None: where it was made."""
    forbidden: Annotated[tuple[Marker, ...], Field(max_length=64)] = ()
    """What no name and no file in the output may hold, besides what the snapshot's hidden globs name."""
    limits: BuildLimits = BuildLimits()

    @property
    def place(self) -> str:
        return self.target or self.output


class WorkspaceMode(StrEnum):
    """How an oracle sees the workspace."""

    READ_ONLY = "read-only"
    WRITABLE = "writable"
    """Changes that the oracle's run makes are found by the second scope check."""


class OracleSpec(Value):
    """The hidden check: a plug-in, its options, its hidden files (a tar blob, mounted only for the verifier)."""

    kind: Name
    options: dict[str, JsonValue] = {}
    files: Digest | None = None
    keep_output: bool = False
    """Store what its check writes and says of itself, where a candidate's code may have copied the hidden files to."""
    workspace: WorkspaceMode = WorkspaceMode.READ_ONLY
    limits: CheckLimits = CheckLimits()


class Scope(Value):
    """What a session may leave changed in its workspace, checked before and after the oracle."""

    allowed: tuple[RelativePath, ...] | None = None
    """Globs of paths that may change; () is read-only; None allows anything."""
    most_files: Annotated[int, Field(gt=0)] | None = None
    """With a bound, the workspace may hold only so many regular files …"""
    most_file_bytes: Annotated[int, Field(gt=0)] | None = None
    """… each no larger than this, and nothing but regular files and folders."""


class ActionClass(StrEnum):
    """What a session may do about a task, and so what may be tried again."""

    READ_ONLY = "read-only"
    """Nothing is to be changed."""
    REVERSIBLE = "workspace-reversible"
    """Its workspace alone is changed, and thrown away afterwards."""
    EXTERNAL = "external-or-non-idempotent"
    """What is done may reach beyond the workspace, or not bear being done twice."""


class Task(Value):
    """One problem, frozen."""

    id: Name
    snapshot: Snapshot
    prompt: Digest
    scope: Scope = Scope()
    dependencies: Annotated[tuple[Dependency, ...], Field(max_length=MOST_FOLDERS)] = ()
    copies: Annotated[tuple[CopiedAsset, ...], Field(max_length=MOST_FOLDERS)] = ()
    builds: Annotated[tuple[Build, ...], Field(max_length=MOST_FOLDERS)] = ()
    setup: Setup | None = None
    verify: Command | None = None
    """The visible check: the agent may run it; we record what it says after the session."""
    oracle: OracleSpec
    limits: Limits = Limits()
    """Of each session."""
    image: ImageName | None = None
    """Whose root file system its sessions, verify and oracle run in; None: what the host has."""
    label: Name | None = None
    """What sort of task it is, for the report's routing table: trivial, cross-module, …"""
    solvable: bool = True
    """Whether anything is right; if not, right is to claim nothing."""
    action: ActionClass | None = None
    """None: nobody says."""
    expensive: bool = False
    """Whether it is planned only when asked for."""
