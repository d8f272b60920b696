"""The preset `reliability`: twenty small tasks, three arms and five trials of the reliability protocol.

The person brings the agent; the tasks, the arms, their order and what decides are fixed here or in
farm/presets/reliability, so that two sweeps of it are comparable.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, TypeAdapter

from farm.model import (
    ActionClass,
    ArmRole,
    ArmSpec,
    BreakerPolicy,
    CellOrder,
    Limits,
    Name,
    OracleSource,
    PluginSpec,
    ReferenceSpec,
    RelativePath,
    RepositorySpec,
    RetryPolicy,
    SweepSpec,
    TaskSpec,
    Value,
)
from farm.planning import yaml_tree
from farm.planning.expanded import Expanded
from farm.planning.preset_options import preset_options
from farm.planning.problems import Problem, ProblemsError

NAME = "reliability"

BASELINE = "baseline"
MODEL = "governed-model-contract"
REFERENCE = "governed-reference-contract"
TRIALS = 5

_FIXED = ("tasks", "arms", "metrics", "gates", "order", "breaker", "reuse")
_RETRY = RetryPolicy(most_attempts=1, outage_attempts=1, kinds=frozenset())
"""Each run is made once, and kept, unless the sweep file says otherwise."""


class Options(Value):
    """What stands beside `kind: reliability`."""

    agent: PluginSpec
    """The same in all arms."""
    provider: Name | None = None
    wall_s: Annotated[float, Field(ge=1, le=900)] = 180.0
    """Of each session."""


class Entry(Value):
    """A task's entry in tasks.yaml."""

    id: Name
    label: Name
    action: ActionClass
    solvable: bool = True
    prompt: str
    checks: tuple[dict[str, JsonValue], ...]
    removes: tuple[RelativePath, ...] = ()
    """Of its reference, beside the folder of that name."""
    answer: str | None = None


def expand(spec: SweepSpec, _folder: Path) -> Expanded:
    """Write tasks and arms out around the person's agent; raise ProblemsError where the sweep file fixes them too."""
    options = preset_options(spec, Options)
    problems = list(_fixed(spec))
    if problems:
        raise ProblemsError(problems)
    written: dict[str, object] = {
        "preset": None,
        "tasks": known_tasks(options.wall_s),
        "arms": _arms(options),
        "trials": spec.trials if "trials" in spec.model_fields_set else TRIALS,
        "order": CellOrder.DIAGONAL,
        "gates": (_gate(),),
        "retry": spec.retry if "retry" in spec.model_fields_set else _RETRY,
        "breaker": BreakerPolicy(streak=0),  # every planned run is made, whatever became of the others
    }
    return Expanded(spec.model_copy(update=written), has_plain_repositories=True)


def known_tasks(wall_s: float) -> Sequence[TaskSpec]:
    """Read the twenty tasks, in the protocol's order."""
    root = Path(str(resources.files("farm"))) / "presets" / "reliability"
    text = (root / "tasks.yaml").read_text("utf-8")
    entries = TypeAdapter(tuple[Entry, ...]).validate_python(yaml_tree.parse(text).value)
    return tuple(_task(entry, root / entry.id, Limits(wall_s=wall_s)) for entry in entries)


def _task(entry: Entry, folder: Path, limits: Limits) -> TaskSpec:
    return TaskSpec(
        id=entry.id,
        repository=RepositorySpec(path=str(folder / "workspace")),
        prompt=entry.prompt,
        oracle=OracleSource.model_validate({"kind": "files", "checks": list(entry.checks)}),
        limits=limits,
        label=entry.label,
        solvable=entry.solvable,
        action=entry.action,
        reference=_reference(entry, folder / "reference") if entry.solvable else None,
    )


def _reference(entry: Entry, folder: Path) -> ReferenceSpec:
    files = str(folder) if folder.is_dir() else None
    return ReferenceSpec(files=files, removes=entry.removes, answer=entry.answer)


def _fixed(spec: SweepSpec) -> Iterator[Problem]:
    for field in _FIXED:
        if field in spec.model_fields_set:
            yield Problem((field,), f"the preset {NAME!r} fixes {field}; drop it from the sweep file")


def _arms(options: Options) -> Sequence[ArmSpec]:
    return (
        _arm(BASELINE, ArmRole.INCUMBENT, {"kind": "claiming"}, options),
        _arm(MODEL, ArmRole.CANDIDATE, {"kind": "governed", "contract": "model"}, options),
        _arm(REFERENCE, ArmRole.COMPARATOR, {"kind": "governed", "contract": "reference"}, options),
    )


def _arm(name: str, role: ArmRole, program: dict[str, JsonValue], options: Options) -> ArmSpec:
    return ArmSpec(
        name=name,
        role=role,
        agent=options.agent,
        program=PluginSpec.model_validate(program),
        provider=options.provider,
    )


def _gate() -> PluginSpec:
    parts = {"baseline": BASELINE, "model": MODEL, "reference": REFERENCE}
    return PluginSpec.model_validate({"kind": "reliability", "parts": parts})
