"""The preset `overlay-v4`: one fixture of the overlay contract, its cases, metric, gate and budgets.

The person brings the two arms; whatever else decides is fixed here or in farm/presets/overlay_v4, so that two sweeps
of one fixture are comparable.
"""

from collections.abc import Iterator
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue

from farm.errors import SpecError
from farm.model import (
    ArmRole,
    ArmSpec,
    BreakerPolicy,
    DispatchPolicy,
    FaultKind,
    Metric,
    Number,
    PluginSpec,
    RepositorySpec,
    RetryPolicy,
    SweepSpec,
    TaskSpec,
    Value,
)
from farm.planning import yaml_tree
from farm.planning.expanded import Expanded
from farm.planning.inputs import resolve_instructions
from farm.planning.preset_options import preset_options
from farm.planning.problems import Problem, ProblemsError

NAME = "overlay-v4"

ON = "overlay-on"
OFF = "overlay-off"
SAMPLES = 10
LEAST_INSTRUCTION_CHARACTERS = 101

_FIXED = ("tasks", "trials", "metrics", "gates", "dispatch", "retry", "breaker", "deadline_s", "grace_s")


class Fixture(StrEnum):
    """The contract's cases. The models differ, and are the agents' own options."""

    TOOLS = "dedicated-tools-vs-bash"
    TOOLS_SONNET = "dedicated-tools-vs-bash-sonnet"
    TOOLS_OPUS = "dedicated-tools-vs-bash-opus-5-5"
    EFFORT = "effort-match-trivial"
    LITERAL = "literal-interpretation"


_FAMILIES = {
    Fixture.TOOLS: "dedicated",
    Fixture.TOOLS_SONNET: "dedicated",
    Fixture.TOOLS_OPUS: "dedicated",
    Fixture.EFFORT: "effort",
    Fixture.LITERAL: "literal",
}


class Options(Value):
    """What stands beside `kind: overlay-v4`."""

    fixture: Fixture
    claim: Annotated[str, Field(min_length=1)] | None = None
    """Text that the resolved overlay must contain for its hypothesis to be supported at all."""


class Family(Value):
    """One family's file."""

    task: TaskSpec
    metric: Metric
    gate: str | None = None
    correct_metric: Number | None = None


def expand(spec: SweepSpec, folder: Path) -> Expanded:
    """Write the fixture out around the person's two arms; raise ProblemsError where they don't fit it."""
    options = preset_options(spec, Options)
    problems = [*_fixed(spec), *_arms(spec)]
    if problems:
        raise ProblemsError(problems)
    unsupported = _unsupported(spec, folder, options.claim)
    return Expanded(
        _written_out(spec, options.fixture, unsupported),
        has_cells=unsupported is None,
        has_plain_repositories=True,
    )


def _fixed(spec: SweepSpec) -> Iterator[Problem]:
    for field in _FIXED:
        if field in spec.model_fields_set:
            yield Problem((field,), f"the preset {NAME!r} fixes {field}; drop it from the sweep file")


def _arms(spec: SweepSpec) -> Iterator[Problem]:
    wanted = {OFF: ArmRole.INCUMBENT, ON: ArmRole.CANDIDATE}
    if {arm.name: arm.role for arm in spec.arms} != wanted or len(spec.arms) != len(wanted):
        yield Problem(
            ("arms",),
            f"the preset {NAME!r} needs two arms: {OFF!r} (role incumbent) and {ON!r} (role candidate)",
        )
        return
    for index, arm in enumerate(spec.arms):
        if arm.name == OFF and arm.overlay is not None:
            yield Problem(("arms", index, "overlay"), f"arm {OFF!r} has no overlay under the preset {NAME!r}; drop it")
        if arm.name == ON and (arm.overlay is None or arm.overlay.files is not None or not arm.overlay.instructions):
            yield Problem(
                ("arms", index), f"arm {ON!r} needs an overlay of instruction files, and nothing else, under {NAME!r}"
            )


def _unsupported(spec: SweepSpec, folder: Path, claim: str | None) -> str | None:
    """Say why the claim has no ground in the resolved text, if it has none; refuse a text that is hardly one."""
    index, arm = next((index, arm) for index, arm in enumerate(spec.arms) if arm.name == ON)
    try:
        text = _resolved(arm, folder)
    except SpecError as error:
        raise ProblemsError([Problem(("arms", index, "overlay", "instructions"), str(error))]) from None
    if claim is None or claim in text:
        return None
    return f"the resolved overlay of arm {ON} does not contain the claimed text {claim!r}, so no cell was planned"


def _resolved(arm: ArmSpec, folder: Path) -> str:
    text = resolve_instructions(folder, arm.overlay.instructions if arm.overlay else ())
    if len(text) < LEAST_INSTRUCTION_CHARACTERS:
        raise SpecError(
            f"the resolved overlay has {len(text)} characters; under {NAME!r} it needs at least "
            f"{LEAST_INSTRUCTION_CHARACTERS}"
        )
    return text


def _written_out(spec: SweepSpec, fixture: Fixture, unsupported: str | None) -> SweepSpec:
    root = Path(str(resources.files("farm"))) / "presets" / "overlay_v4"
    family = _family(root / f"{_FAMILIES[fixture]}.yaml")
    fixed: dict[str, object] = {
        "preset": None,
        "tasks": (_placed(family.task, fixture, root),),
        "trials": SAMPLES,
        "metrics": (family.metric,),
        "gates": (_gate(family, fixture, unsupported),),
        "dispatch": DispatchPolicy(most_outstanding=3),
        "retry": RetryPolicy(most_attempts=4, kinds=frozenset({FaultKind.RATE_LIMIT}), base_delay_s=1.0),
        "breaker": BreakerPolicy(streak=0),  # every planned sample is tried, whatever became of the others
        "deadline_s": 1800.0,
        "grace_s": 5.0,
    }
    return spec.model_copy(update=fixed)


def _family(path: Path) -> Family:
    return Family.model_validate(yaml_tree.parse(path.read_text("utf-8")).value)


def _placed(task: TaskSpec, fixture: Fixture, root: Path) -> TaskSpec:
    files = None if task.oracle.files is None else str(root / task.oracle.files)
    return task.model_copy(
        update={
            "id": fixture.value,
            "repository": RepositorySpec(path=str(root / (task.repository.path or ""))),
            "prompt_file": str(root / (task.prompt_file or "")),
            "oracle": task.oracle.model_copy(update={"files": files}),
        }
    )


def _gate(family: Family, fixture: Fixture, unsupported: str | None) -> PluginSpec:
    case: dict[str, JsonValue] = {"metric": family.metric.name, "planned": SAMPLES}
    if family.gate is not None:
        case["gate"] = family.gate
    if family.correct_metric is not None:
        case["correct_metric"] = family.correct_metric
    if unsupported is not None:
        case["unsupported_hypothesis"] = unsupported
    options = {"kind": "overlay", "arms": {"on": ON, "off": OFF}, "cases": {fixture.value: case}}
    return PluginSpec.model_validate(options)
