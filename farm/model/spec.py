"""What a person writes: a sweep file, before anything is resolved or pinned.

A plug-in's own options stand beside its `kind`: `oracle: {kind: command, argv: [python3, check.py]}`.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from farm.model.arm import MOST_ASSETS, ArmRole
from farm.model.base import Value
from farm.model.door import CellBudget, SweepBudget
from farm.model.guidance import Guidance
from farm.model.image import ImageName
from farm.model.limits import CheckLimits, Limits, Seconds
from farm.model.metric import Metric
from farm.model.names import Label, Name, PlainPath, RelativePath
from farm.model.policy import BreakerPolicy, CellOrder, DispatchPolicy, RetryPolicy
from farm.model.task import MOST_FOLDERS, ActionClass, Build, Command, Setup, WorkspaceMode
from farm.model.time_window import WindowText


class PluginSpec(Value):
    """A plug-in by name, with its options inline."""

    model_config = ConfigDict(extra="allow")

    kind: Name

    @property
    def options(self) -> dict[str, JsonValue]:
        return dict(self.model_extra or {})


class RepositorySpec(Value):
    """A git repository by path (relative to the sweep file) or URL, and a ref; the plan pins the commit."""

    path: str | None = None
    url: str | None = None
    ref: str = "HEAD"
    hidden: tuple[RelativePath, ...] = ()
    """Globs of what the snapshot leaves out: the hidden tests, say. One that matches nothing is refused."""

    @model_validator(mode="after")
    def _one_place(self) -> "RepositorySpec":
        if (self.path is None) == (self.url is None):
            raise ValueError("a repository needs exactly one of path and url")
        return self


class OracleSource(PluginSpec):
    """A hidden check; `files` is a folder, relative to the sweep file, that only the verifier sees."""

    files: str | None = None
    keep_output: bool = False
    """Store what the check writes, and its own words about an answer: both may hold the hidden files' bytes."""
    workspace: WorkspaceMode = WorkspaceMode.READ_ONLY
    limits: CheckLimits = CheckLimits()


class ReferenceSpec(Value):
    """What solves a task, for checking the task itself: files, a final answer, what goes; no arm ever sees it."""

    files: str | None = None
    """A folder, relative to the sweep file, laid over the workspace; of a review, the one that holds review.json."""
    removes: tuple[RelativePath, ...] = ()
    """What is deleted from the workspace."""
    answer: str | None = None
    """The final answer, where the oracle looks at that."""

    @model_validator(mode="after")
    def _holds_something(self) -> "ReferenceSpec":
        if self.files is None and self.answer is None and not self.removes:
            raise ValueError("a reference needs files, an answer, or what it removes")
        return self


def _as_files(given: object) -> object:
    return {"files": given} if isinstance(given, str) else given


class Base(StrEnum):
    """Where the path of a source starts."""

    SWEEP = "sweep"
    """The sweep file's folder."""
    REPOSITORY = "repository"
    """The folder of the task's repository, as it is, with what is not committed."""


class SourceSpec(Value):
    """What a task brings into its workspaces besides the repository, captured by its content."""

    source: Annotated[str, Field(min_length=1)]
    base: Base = Base.SWEEP
    target: PlainPath
    """Where it is in the workspace; nothing may stand there."""


class TaskSpec(Value):
    """One problem."""

    id: Name
    repository: RepositorySpec
    prompt: str | None = None
    prompt_file: str | None = None
    allowed_changes: tuple[RelativePath, ...] | None = None
    """Globs; [] means read-only; left out, anything may change."""
    most_files: Annotated[int, Field(gt=0)] | None = None
    most_file_bytes: Annotated[int, Field(gt=0)] | None = None
    dependencies: Annotated[tuple[SourceSpec, ...], Field(max_length=MOST_FOLDERS)] = ()
    """Folders that every sandbox sees read-only, and the workspace by a link."""
    copies: Annotated[tuple[SourceSpec, ...], Field(max_length=MOST_FOLDERS)] = ()
    """Folders and files that are copied into the workspace."""
    builds: Annotated[tuple[Build, ...], Field(max_length=MOST_FOLDERS)] = ()
    """What is made of the snapshot, once for all cells."""
    setup: Setup | None = None
    """A command that runs in each cell's workspace before its first session, without a network."""
    verify: Command | None = None
    oracle: OracleSource
    limits: Limits = Limits()
    image: ImageName | None = None
    """Whose root file system its sessions, verify and oracle run in; the sweep's sandbox is docker then."""
    label: Name | None = None
    """What sort of task it is: trivial, cross-module, …; the report says, label by label, which arm does best."""
    solvable: Annotated[bool, Field(strict=True)] = True
    """False: nothing is right, and a session does well to say so."""
    action: ActionClass | None = None
    """What a session may do about it."""
    expensive: Annotated[bool, Field(strict=True)] = False
    """Planned only when asked for: `--expensive`."""
    reference: Annotated[ReferenceSpec | None, BeforeValidator(_as_files)] = None
    """What solves the task; a text is its folder of files. Not in the plan: `farm task check` alone runs it."""

    @model_validator(mode="after")
    def _one_prompt(self) -> "TaskSpec":
        if (self.prompt is None) == (self.prompt_file is None):
            raise ValueError(f"task {self.id!r} needs exactly one of prompt and prompt_file")
        return self


class OverlaySpec(Value):
    """What an arm adds to a task."""

    files: str | None = None
    """A folder, relative to the sweep file, laid over the workspace."""
    base: str | None = None
    """Another, laid first: what the arm has in common with its incumbent."""
    boundary: tuple[RelativePath, ...] = ()
    """Globs that every laid file must match."""
    guidance: Guidance | None = None
    """What is taken out of instruction files: of a tool, for example, that the arm does not have."""
    modify_only: bool = False
    """Refuse files that stand neither in `base` nor in the repository."""
    instructions: tuple[str, ...] = ()
    """Text files, inherited first; joined with one blank line."""


class PluginFolder(Value):
    """A plug-in of an agent: a folder of which only manifests, skills, scripts and assets are taken."""

    folder: str
    """Relative to the sweep file."""
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]{1,64})?$")]
    """As its manifests must say it."""
    skills: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    """Those that must be in it."""


MOST_LABELS = 16
MOST_SOURCES = 100


class ArmSpec(Value):
    """One treatment."""

    name: Name
    role: ArmRole
    incumbent: Name | None = None
    """The arm that it is set against; needed of candidates when the sweep has several incumbents."""
    control: Annotated[bool, Field(strict=True)] = False
    """It is its incumbent once more, so that what the two differ by is noise; refused where it is anything else."""
    agent: PluginSpec
    program: PluginSpec = PluginSpec(kind="single")
    provider: Name | None = None
    """Whom the agent asks for a model: a name that the workers' settings (FARM_PROVIDERS) know."""
    overlay: OverlaySpec | None = None
    assets: Annotated[dict[Name, str], Field(max_length=MOST_ASSETS)] = {}
    """Folders, relative to the sweep file, that the arm's sessions see at /cell/assets/<name>, read-only."""
    plugins: dict[Name, PluginFolder] = {}
    """Assets too, packed as plug-ins of its agent."""
    labels: Annotated[tuple[Label, ...], Field(max_length=MOST_LABELS)] = ()
    """What a host must be labelled with to run the arm's cells; arch=<machine> is every host's own."""


class PresetSpec(PluginSpec):
    """A named family of tasks, metric, gate and budgets that the sweep file builds on."""


class SweepSpec(Value):
    """A sweep file."""

    name: Name
    preset: PresetSpec | None = None
    tasks: tuple[TaskSpec, ...] = ()
    arms: tuple[ArmSpec, ...] = ()
    trials: Annotated[int, Field(ge=1, le=10_000)] = 1
    order: CellOrder = CellOrder.ROTATED
    seed: Annotated[int, Field(ge=0)] = 0
    """Of the order `seeded`."""
    metrics: tuple[Metric, ...] = ()
    gates: tuple[PluginSpec, ...] = ()
    prices: str | None = None
    """A price table, relative to the sweep file: what the providers' models cost."""
    budget: SweepBudget | None = None
    """Of all attempts together; what one attempt reserves of it is its cell_budget."""
    cell_budget: CellBudget | None = None
    sandbox: Name = "bubblewrap"
    dispatch: DispatchPolicy = DispatchPolicy()
    retry: RetryPolicy = RetryPolicy()
    breaker: BreakerPolicy = BreakerPolicy()
    deadline_s: Seconds | None = None
    grace_s: Seconds = 5.0
    windows: tuple[WindowText, ...] = ()
    """When cells may run: `22:00-06:00 Europe/Berlin`, `Sat,Sun 00:00-24:00`, `2026-12-01T22:00Z/2026-12-02T06:00Z`."""
    upload_s: Seconds = 30.0
    durations: str | None = None
    """A table of expected durations, relative to the sweep file."""
    reuse: Annotated[tuple[str, ...], Field(max_length=MOST_SOURCES)] = ()
    """Sealed sweeps whose results are taken over where they were measured under the same lock."""
    reuse_within_days: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 90.0
    """How long ago that may have been."""
    lock: str | None = None
    """The lock file, relative to the sweep file, that its plan must not differ from: see `farm lock`."""
