"""The preset `workflow-bench`: the workflow benchmark's eleven arms, of which a sweep file picks.

What an arm is stands in farm/presets/workflow_bench/arms.yaml, in the words of any sweep file: an arm of one's own
needs no code, and stands under `arms:` beside the preset's.
"""

from collections.abc import Mapping
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, TypeAdapter

from farm.errors import SpecError, did_you_mean
from farm.model import ArmRole, ArmSpec, Guidance, Name, OverlaySpec, PluginSpec, RelativePath, SweepSpec, Value
from farm.planning import yaml_tree
from farm.planning.expanded import Expanded
from farm.planning.folder import folder_paths
from farm.planning.preset_options import preset_options
from farm.planning.problems import Problem, ProblemsError

NAME = "workflow-bench"

_DEFAULT = ("workflow", "workflow-direct", "baseline")
_PAIRS = {
    "plan": ("workflow", "candidate-workflow"),
    "work": ("workflow", "candidate-workflow", "workflow-direct", "candidate-workflow-direct"),
    "review": ("ce-review", "review", "candidate-review"),
}
"""The arms that a change of each skill must be tried by, each candidate right behind its incumbent."""


class Skills(Value):
    """What the skills are called that sessions must use."""

    plan: str = "plan"
    work: str = "work"
    review: str = "review"


class Tools(Value):
    """What the agent calls the tools that arms are denied."""

    skill: tuple[str, ...] = ("Skill",)
    edit: tuple[str, ...] = ("Edit",)
    bare: tuple[str, ...] = ()
    """Of `baseline-nomcp`, besides."""


class Comparator(Value):
    """The plug-in of the `ce-` arms."""

    name: Name
    folder: str
    """Relative to the sweep file."""
    version: str
    agent: dict[str, JsonValue] = {}
    """What its arms' agent has besides; left out: the plug-in among its `plugins`."""
    skills: Skills = Skills()


_GUARD = PluginSpec(kind="health")
"""The benchmark's own guard, where the sweep file names no gate; `gates: []` is none."""


class Options(Value):
    """What stands beside `kind: workflow-bench`."""

    arms: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """Which of the eleven; left out: those that an overlay demands, and without one workflow, workflow-direct and
    baseline."""
    agent: PluginSpec
    provider: Name | None = None
    skills: Skills = Skills()
    tools: Tools = Tools()
    skill_files: str | None = None
    """A folder that holds the skills' files by their paths in a workspace; left out: they stand in the repository."""
    overlay: str | None = None
    """A folder of changed skill files: what the candidates are about."""
    boundary: Annotated[tuple[RelativePath, ...], Field(min_length=1)] = (".claude/skills/**",)
    """Globs of the skills' files. No session may change them."""
    comparator: Comparator | None = None
    bare: tuple[str, ...] = ("mcp",)
    """The agent's options that `baseline-nomcp` does without."""
    guidance: Guidance | None = None
    """What is taken out of the instruction files that `baseline-nomcp` reads."""


class Files(StrEnum):
    """Whose skill files an arm has."""

    NONE = "none"
    INCUMBENT = "incumbent"
    CANDIDATE = "candidate"
    COMPARATOR = "comparator"


class Pattern(Value):
    """An arm's entry in arms.yaml."""

    role: ArmRole
    program: PluginSpec
    files: Files = Files.NONE
    is_bare: bool = False
    like: Name | None = None


def expand(spec: SweepSpec, folder: Path) -> Expanded:
    """Write the picked arms out before the person's own; raise ProblemsError where they don't fit together."""
    options = preset_options(spec, Options)
    patterns = known_arms()
    names = _picked(options, patterns, folder)
    arms = tuple(_arm(name, patterns[name], options) for name in names)
    gates = spec.gates if "gates" in spec.model_fields_set else (_GUARD,)
    return Expanded(spec.model_copy(update={"preset": None, "arms": (*arms, *spec.arms), "gates": gates}))


def known_arms() -> Mapping[str, Pattern]:
    """Read the eleven arms, each with what it takes from another."""
    text = resources.files("farm").joinpath("presets/workflow_bench/arms.yaml").read_text("utf-8")
    entries = TypeAdapter(dict[str, dict[str, JsonValue]]).validate_python(yaml_tree.parse(text).value)
    return {name: Pattern.model_validate(_inherited(entries, name)) for name in entries}


def _inherited(entries: Mapping[str, dict[str, JsonValue]], name: str) -> dict[str, JsonValue]:
    entry = entries[name]
    return entry if "like" not in entry else {**entries[str(entry["like"])], **entry}


def _picked(options: Options, patterns: Mapping[str, Pattern], folder: Path) -> tuple[str, ...]:
    if options.overlay is None:
        names = options.arms or _DEFAULT
    else:
        names = _demanded(options, folder)
        if options.arms is not None and options.arms != names:
            text = f"the overlay is tried by exactly these arms, in this order: {', '.join(names)}; drop the field"
            raise _problem("arms", text)
    for name in names:
        _ensure_possible(name, patterns, options)
    return names


def _demanded(options: Options, folder: Path) -> tuple[str, ...]:
    """List the arms that a change of the overlay's files must be tried by."""
    try:
        touched = {part for path in folder_paths(folder / (options.overlay or "")) for part in path.split("/")}
    except SpecError as error:
        raise _problem("overlay", str(error)) from None
    changed = [key for key, name in options.skills.model_dump().items() if name in touched]
    if not changed:
        known = ", ".join(options.skills.model_dump().values())
        raise _problem("overlay", f"it changes no file of a skill; the skills are called {known}")
    return tuple(dict.fromkeys(name for key in changed for name in _PAIRS[key]))


def _ensure_possible(name: str, patterns: Mapping[str, Pattern], options: Options) -> None:
    if name not in patterns:
        raise _problem("arms", f"there is no arm {name!r}; {did_you_mean(name, sorted(patterns))}")
    if patterns[name].files is Files.CANDIDATE and options.overlay is None:
        raise _problem("arms", f"arm {name!r} is a candidate, and there is no overlay; name one under `overlay:`")
    if patterns[name].files is Files.COMPARATOR and options.comparator is None:
        raise _problem("comparator", f"arm {name!r} needs the plug-in that it compares with; add the field")


def _problem(field: str, text: str) -> ProblemsError:
    return ProblemsError([Problem(("preset", field), text)])


def _arm(name: str, pattern: Pattern, options: Options) -> ArmSpec:
    comparator = options.comparator if pattern.files is Files.COMPARATOR else None
    skills = options.skills if comparator is None else comparator.skills
    fields: dict[str, object] = {
        "name": name,
        "role": pattern.role,
        "incumbent": pattern.like if pattern.role is ArmRole.CANDIDATE else None,
        "agent": {"kind": options.agent.kind, **_agent_options(pattern, options, comparator)},
        "program": _program(pattern, options, skills),
        "provider": options.provider,
        "overlay": _overlay(pattern, options),
        "plugins": {} if comparator is None else {comparator.name: _plugin(comparator)},
    }
    return ArmSpec.model_validate(fields)


def _plugin(comparator: Comparator) -> dict[str, JsonValue]:
    skills = [*comparator.skills.model_dump().values()]
    return {"folder": comparator.folder, "version": comparator.version, "skills": skills}


def _agent_options(pattern: Pattern, options: Options, comparator: Comparator | None) -> dict[str, JsonValue]:
    given = options.agent.options
    if pattern.is_bare:
        return {key: value for key, value in given.items() if key not in options.bare}
    if comparator is None:
        return given
    return {**given, **(comparator.agent or {"plugins": [comparator.name]})}


def _program(pattern: Pattern, options: Options, skills: Skills) -> dict[str, JsonValue]:
    names: dict[str, str] = skills.model_dump()
    tools: dict[str, list[str]] = options.tools.model_dump(mode="json")
    program = {"kind": pattern.program.kind, **_named(pattern.program.options, names, tools)}
    if pattern.files in {Files.INCUMBENT, Files.CANDIDATE} and pattern.program.kind != "review":
        program["may_not_change"] = list(options.boundary)
    return program


def _named(
    entry: Mapping[str, JsonValue], skills: Mapping[str, str], tools: Mapping[str, list[str]]
) -> dict[str, JsonValue]:
    """Put the names of skills and tools in place of what arms.yaml calls them."""
    named: dict[str, JsonValue] = {}
    for key, value in entry.items():
        match key, value:
            case "skill", str():
                named[key] = skills[value]
            case "denied_tools", list():
                named[key] = [tool for kind in value for tool in tools[str(kind)]]
            case _, dict():
                named[key] = _named(value, skills, tools)
            case _:
                named[key] = value
    return named


def _overlay(pattern: Pattern, options: Options) -> OverlaySpec | None:
    match pattern.files:
        case Files.CANDIDATE:
            return OverlaySpec(
                base=options.skill_files, files=options.overlay, boundary=options.boundary, modify_only=True
            )
        case Files.INCUMBENT if options.skill_files is not None:
            return OverlaySpec(base=options.skill_files, boundary=options.boundary)
        case Files.NONE if pattern.is_bare and options.guidance is not None:
            return OverlaySpec(guidance=options.guidance)
        case _:
            return None
