"""The preset `faults`: nine faults of an agent whose every word is scripted, in an arm without a governor and one with.

Tasks, scripts and what must come of each are fixed in farm/presets/faults; whoever runs it serves the script under the
provider's name. `farm faults` does all of it.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, TypeAdapter, model_validator

from farm.errors import did_you_mean
from farm.model import (
    NO_SUCCESS_LINE,
    SUCCESS_LINE,
    ActionClass,
    ArmRole,
    ArmSpec,
    BreakerPolicy,
    Limits,
    Name,
    OracleSource,
    PluginSpec,
    RepositorySpec,
    RetryPolicy,
    SweepSpec,
    TaskSpec,
    Terminal,
    Value,
)
from farm.planning import yaml_tree
from farm.planning.expanded import Expanded
from farm.planning.preset_options import preset_options
from farm.planning.problems import Problem, ProblemsError

NAME = "faults"

BASELINE = "baseline"
GOVERNED = "governed"
TRIALS = 10
MODEL = "scripted-1"
PROVIDER = "scripted"
VERIFIERS: dict[str, JsonValue] = {"total": ["sh", "-c", 'test "$(printf "4\\n5\\n6\\n" | sh total.sh)" = 15']}
CONTRACT_PATH = "/cell/out/governor/contract.json"
"""Where a governed session opens its contract."""

_FIXED = ("tasks", "arms", "metrics", "gates", "breaker", "reuse", "retry")
_RETRY = RetryPolicy(most_attempts=1, outage_attempts=1, kinds=frozenset())
_GOVERNED_MARK = "contract.json"
"""What stands in a governed arm's prompts beside the task's own, and in no other's."""
_WALL_S = 60.0


class Saying(StrEnum):
    """The last word of a session."""

    DONE = "done"
    NOT_DONE = "not-done"
    NEITHER = "neither"


_WORDS = {
    Saying.DONE: f"It is done.\n{SUCCESS_LINE}",
    Saying.NOT_DONE: f"It can't be shown.\n{NO_SUCCESS_LINE}",
    Saying.NEITHER: "What I called can't be taken back.",
}


class Turn(Value):
    """One reply of the model: calls of tools, in the form of a provider's script, or its last word."""

    does: tuple[Literal["open"] | dict[str, JsonValue], ...] = ()
    """`open` opens the contract."""
    says: Saying | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.does) == (self.says is not None):
            raise ValueError("a turn either does something or says its last word")
        return self


class Outcome(Value):
    """What must come of a script."""

    oracle: bool
    claims: bool
    terminal: Terminal = Terminal.NONE


class Part(Value):
    """What the model says in one arm, and what must come of it."""

    expected: Outcome
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]


class Fault(Value):
    """An entry of tasks.yaml."""

    id: Name
    action: ActionClass
    solvable: bool = True
    prompt: str
    oracle: OracleSource
    contract: dict[str, JsonValue]
    baseline: Part
    governed: Part


class Options(Value):
    """What stands beside `kind: faults`."""

    provider: Name = PROVIDER
    """Who answers by the script."""
    only: tuple[Name, ...] = ()
    """These faults alone; left out: all nine."""


def expand(spec: SweepSpec, _folder: Path) -> Expanded:
    """Write tasks, arms and gate out; raise ProblemsError where the sweep file fixes them too."""
    options = preset_options(spec, Options)
    problems = [*_problems(spec, options)]
    if problems:
        raise ProblemsError(problems)
    faults = [fault for fault in known_faults() if not options.only or fault.id in options.only]
    written: dict[str, object] = {
        "preset": None,
        "tasks": tuple(_task(fault) for fault in faults),
        "arms": (_baseline(options.provider), _governed(options.provider)),
        "trials": spec.trials if "trials" in spec.model_fields_set else TRIALS,
        "gates": (_gate(faults),),
        "retry": _RETRY,
        "breaker": BreakerPolicy(streak=0),
    }
    return Expanded(spec.model_copy(update=written), has_plain_repositories=True)


@cache
def known_faults() -> Sequence[Fault]:
    """Read the nine."""
    text = (_root() / "tasks.yaml").read_text("utf-8")
    return TypeAdapter(tuple[Fault, ...]).validate_python(yaml_tree.parse(text).value)


def script() -> JsonValue:
    """Write the provider's script: for each fault the replies of a governed run, then those of one that is not."""
    return {"rules": [rule for fault in known_faults() for rule in _rules(fault)]}


def _rules(fault: Fault) -> Iterator[JsonValue]:
    """Name what has the governed mark first: the other rule would apply to it as well."""
    yield {
        "name": f"{fault.id}.{GOVERNED}",
        "when": {"prompt": [fault.prompt, _GOVERNED_MARK]},
        "turns": [_reply(turn, fault) for turn in fault.governed.turns],
    }
    yield {
        "name": f"{fault.id}.{BASELINE}",
        "when": {"prompt": [fault.prompt]},
        "turns": [_reply(turn, fault) for turn in fault.baseline.turns],
    }


def _reply(turn: Turn, fault: Fault) -> JsonValue:
    if turn.says is not None:
        return {"answer": _WORDS[turn.says]}
    return {"tools": [_opening(fault) if act == "open" else act for act in turn.does]}


def _opening(fault: Fault) -> JsonValue:
    """Write the contract; its place comes first, as the beginning of a long call is what a governor sees."""
    return {"run": {"command": f"> {CONTRACT_PATH} printf %s {shlex.quote(json.dumps(fault.contract))}"}}


def _root() -> Path:
    return Path(str(resources.files("farm"))) / "presets" / "faults"


def _problems(spec: SweepSpec, options: Options) -> Iterator[Problem]:
    for field in _FIXED:
        if field in spec.model_fields_set:
            yield Problem((field,), f"the preset {NAME!r} fixes {field}; drop it from the sweep file")
    known = sorted(fault.id for fault in known_faults())
    for name in options.only:
        if name not in known:
            yield Problem(("preset", "only"), f"there is no fault {name!r}; {did_you_mean(name, known)}")


def _task(fault: Fault) -> TaskSpec:
    return TaskSpec(
        id=fault.id,
        repository=RepositorySpec(path=str(_root() / fault.id / "workspace")),
        prompt=fault.prompt,
        oracle=fault.oracle,
        limits=Limits(wall_s=_WALL_S),
        solvable=fault.solvable,
        action=fault.action,
    )


def _baseline(provider: str) -> ArmSpec:
    return _arm(BASELINE, ArmRole.INCUMBENT, PluginSpec(kind="claiming"), provider)


def _governed(provider: str) -> ArmSpec:
    program = {"kind": "governed", "contract": "model", "verifiers": VERIFIERS}
    return _arm(GOVERNED, ArmRole.CANDIDATE, PluginSpec.model_validate(program), provider)


def _arm(name: str, role: ArmRole, program: PluginSpec, provider: str) -> ArmSpec:
    agent = PluginSpec.model_validate({"kind": "stand-in", "model": MODEL})
    return ArmSpec(name=name, role=role, agent=agent, program=program, provider=provider)


def _gate(faults: Sequence[Fault]) -> PluginSpec:
    expected = {
        fault.id: {BASELINE: _expected(fault.baseline), GOVERNED: _expected(fault.governed)} for fault in faults
    }
    return PluginSpec.model_validate({"kind": "mechanism", "expected": expected})


def _expected(part: Part) -> JsonValue:
    return {**part.expected.model_dump(mode="json"), "replies": len(part.turns)}
