"""Gather a sweep's inputs into memory: plug-ins checked by their own constructors, texts and folders read once.

All that is wrong is found before anything is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from pydantic import JsonValue

from farm.errors import SpecError
from farm.gates.protocol import Gate, NeedsMetrics
from farm.model import (
    MIB,
    ArmSpec,
    Metric,
    OverlaySpec,
    Pin,
    PluginGroup,
    PluginSpec,
    SweepSpec,
    TaskSpec,
    Wire,
    label_need,
    program_need,
    provider_need,
)
from farm.planning import tar
from farm.planning.admit import MOST_PROMPT_BYTES, prompt_problem
from farm.planning.durations import Durations, read_durations
from farm.planning.folder import folder_contents, folder_paths, pack_folder, read_file
from farm.planning.laying import Laid, lay
from farm.planning.plugin_folder import pack_plugin
from farm.planning.ports import PluginSource
from farm.planning.prices import read_prices
from farm.planning.problems import Loc, Problem

MOST_INSTRUCTION_BYTES = 1 * MIB

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TaskInput:
    """What a task's fields name, read."""

    prompt: bytes
    oracle: Pin
    oracle_files: bytes | None


@dataclass(frozen=True, slots=True)
class OverlayInput:
    """What an overlay's fields name, read."""

    laid: Laid | None
    instructions: bytes | None


@dataclass(frozen=True, slots=True)
class ArmInput:
    """What an arm's fields name, read."""

    agent: Pin
    program: Pin
    sessions: int
    requires: tuple[str, ...]
    overlay: OverlayInput | None
    assets: dict[str, bytes]


@dataclass(slots=True)
class Gathering:
    """One pass over a sweep: gives what could be read and keeps the problems of what could not."""

    folder: Path
    plugins: PluginSource
    problems: list[Problem] = field(default_factory=list)

    def task(self, index: int, task: TaskSpec) -> TaskInput | None:
        """Read a task's prompt and oracle."""
        loc: Loc = ("tasks", index)
        source = task.oracle
        prompt = self._take((*loc, "prompt" if task.prompt_file is None else "prompt_file"), lambda: self._prompt(task))
        oracle = self._plugin("oracles", source, (*loc, "oracle"))
        if isinstance(oracle, _Depending):
            self._take((*loc, "oracle"), partial(_ensure_dependencies, task, oracle.dependencies))
        files: bytes | None = None
        if source.files is not None:
            hidden = self.folder / source.files
            executes = oracle.executes if isinstance(oracle, _Executing) else ()
            files = self._take((*loc, "oracle", "files"), lambda: _pack_hidden(hidden, executes))
        if task.reference is not None and task.reference.files is not None:
            solution = self.folder / task.reference.files
            self._take((*loc, "reference"), lambda: folder_paths(solution))
        if prompt is None or oracle is None:
            return None
        return TaskInput(prompt, _pin_of(source.kind, oracle), files)

    def arm(self, index: int, arm: ArmSpec, tasks: Sequence[TaskSpec] = ()) -> ArmInput | None:
        """Check an arm's plug-ins, and that its program fits the tasks; read its overlay and assets."""
        loc: Loc = ("arms", index)
        agent = self._plugin("agents", arm.agent, (*loc, "agent"))
        program = self._plugin("programs", arm.program, (*loc, "program"))
        overlay = None if arm.overlay is None else self._overlay(arm.overlay, (*loc, "overlay"))
        assets = self._assets(arm, (*loc, "assets"))
        if agent is None or program is None:
            return None
        self._take((*loc, "provider"), lambda: _ensure_provider_fits(arm, agent.wires))
        self._take((*loc, "agent"), lambda: _ensure_assets(arm, agent.assets))
        self._take((*loc, "program"), lambda: self._ensure_demands(arm, agent, program))
        self._take((*loc, "program"), lambda: _ensure_oracles(arm, program, tasks))
        pins = (_pin_of(arm.agent.kind, agent), _pin_of(arm.program.kind, program))
        sessions = len(program.demands) if isinstance(program, _Demanding) else 1
        return ArmInput(*pins, sessions, _requirements(arm, agent), overlay, assets)

    def gate(self, index: int, spec: SweepSpec) -> Pin | None:
        """Check a gate's options and that the metrics that it needs are declared."""
        chosen = spec.gates[index]
        tasks = tuple(task.id for task in spec.tasks)
        return self._take(
            ("gates", index), lambda: _gate(self.plugins.load("gates", chosen.kind), chosen, tasks, spec.metrics)
        )

    def prices(self, name: str) -> bytes | None:
        """Read and check the price table."""
        return self._take(("prices",), lambda: read_prices(self.folder / name))

    def durations(self, name: str) -> Durations | None:
        """Read and check the table of durations."""
        return self._take(("durations",), lambda: read_durations(self.folder / name))

    def sandbox(self, name: str) -> None:
        """Check that the sandbox's backend is known; it need not work on this machine."""
        self._take(("sandbox",), lambda: self.plugins.check("sandboxes", name))

    def _plugin(self, group: PluginGroup, chosen: PluginSpec, loc: Loc) -> Any:  # noqa: ANN401 (a plug-in keeps its group's protocol)
        factory = self._take((*loc, "kind"), lambda: self.plugins.load(group, chosen.kind))
        return None if factory is None else self._take(loc, lambda: factory(chosen.options))

    def _ensure_demands(self, arm: ArmSpec, agent: "_Asking", program: object) -> None:
        factory = self.plugins.load("agents", arm.agent.kind)
        for demand in program.demands if isinstance(program, _Demanding) else ():
            factory(demand.merged(agent.options))

    def _overlay(self, overlay: OverlaySpec, loc: Loc) -> OverlayInput:
        laid = self._take((*loc, "files"), lambda: lay(overlay, self.folder))
        instructions: bytes | None = None
        if overlay.instructions:
            instructions = self._take(
                (*loc, "instructions"), lambda: resolve_instructions(self.folder, overlay.instructions).encode()
            )
        return OverlayInput(laid, instructions)

    def _assets(self, arm: ArmSpec, loc: Loc) -> dict[str, bytes]:
        packed: dict[str, bytes] = {}
        for name, folder in arm.assets.items():
            body = self._take((*loc, name), partial(pack_folder, self.folder / folder))
            if body is not None:
                packed[name] = body
        for name, plugin in arm.plugins.items():
            body = self._take((*loc[:-1], "plugins", name), partial(pack_plugin, self.folder / plugin.folder, plugin))
            if body is not None:
                packed[name] = body
        return packed

    def _prompt(self, task: TaskSpec) -> bytes:
        if task.prompt_file is not None:
            body = read_file(self.folder / task.prompt_file, MOST_PROMPT_BYTES)
            _text(body, self.folder / task.prompt_file)
        else:
            body = (task.prompt or "").encode()
        problem = prompt_problem(len(body.strip()) and len(body))
        if problem is not None:
            raise SpecError(problem)
        return body

    def _take(self, loc: Loc, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except SpecError as error:
            self.problems.append(Problem(loc, str(error)))
            return None


def resolve_instructions(folder: Path, files: tuple[str, ...]) -> str:
    """Join instruction texts, inherited first, with one blank line between; raise SpecError for an empty one."""
    texts = []
    for file in files:
        text = _text(read_file(folder / file, MOST_INSTRUCTION_BYTES), folder / file).strip()
        if not text:
            raise SpecError(f"the instruction file {folder / file} is empty; write it or drop it")
        texts.append(text)
    return "\n\n".join(texts)


def _text(body: bytes, path: Path) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


class _Program(Protocol):
    """A CLI at a version."""

    kind: str
    version: str


class _Versioned(Protocol):
    """What agents, programs and oracles have in common."""

    version: str
    options: dict[str, JsonValue]


class _Demand(Protocol):
    """What a phase of a program asks of its agent, as the agent's own options."""

    def merged(self, options: Mapping[str, JsonValue]) -> dict[str, JsonValue]: ...


@runtime_checkable
class _Demanding(Protocol):
    """A program of phases: what each asks of the agent."""

    demands: tuple[_Demand, ...]


@runtime_checkable
class _Choosy(Protocol):
    """What programs have besides that are not for every oracle."""

    oracles: tuple[str, ...]
    """The kinds that a task's oracle must be one of; (): any."""


@runtime_checkable
class _Depending(Protocol):
    """What oracles have besides that run a program of the task's."""

    dependencies: tuple[str, ...]
    """The targets of the dependencies that hold it."""


@runtime_checkable
class _Executing(Protocol):
    """What oracles have besides that start one of the hidden files as a program."""

    executes: tuple[str, ...]
    """Their paths in the hidden folder."""


class _Asking(_Versioned, Protocol):
    """What agents have besides."""

    wires: tuple[Wire, ...]
    program: _Program | None
    assets: tuple[str, ...]


def _ensure_oracles(arm: ArmSpec, program: object, tasks: Sequence[TaskSpec]) -> None:
    kinds = program.oracles if isinstance(program, _Choosy) else ()
    other = next((task for task in tasks if kinds and task.oracle.kind not in kinds), None)
    if other is not None:
        raise SpecError(
            f"the program {arm.program.kind!r} of arm {arm.name!r}, with these options, is for tasks whose oracle is "
            f"{' or '.join(map(repr, kinds))}; task {other.id!r} has {other.oracle.kind!r}"
        )


def _requirements(arm: ArmSpec, agent: _Asking) -> tuple[str, ...]:
    provider = () if arm.provider is None else (provider_need(arm.provider),)
    program = () if agent.program is None else (program_need(agent.program.kind, agent.program.version),)
    return (*provider, *program, *(label_need(label) for label in sorted(set(arm.labels))))


def _pin_of(kind: str, plugin: _Versioned) -> Pin:
    return Pin(name=kind, version=plugin.version, options=plugin.options)


def _ensure_provider_fits(arm: ArmSpec, wires: tuple[Wire, ...]) -> None:
    if wires and arm.provider is None:
        raise SpecError(
            f"the agent {arm.agent.kind!r} asks a model, and arm {arm.name!r} names no provider; "
            "add `provider:` with a name that the workers' FARM_PROVIDERS knows, for example anthropic or openai"
        )
    if arm.provider is not None and not wires:
        raise SpecError(
            f"the agent {arm.agent.kind!r} of arm {arm.name!r} asks no model; drop `provider: {arm.provider}`, "
            "or say by which wire it asks"
        )


def _ensure_assets(arm: ArmSpec, named: tuple[str, ...]) -> None:
    brought = [*arm.assets, *arm.plugins]
    missing = [name for name in named if name not in brought]
    if missing:
        raise SpecError(
            f"the agent {arm.agent.kind!r} needs the asset {missing[0]!r}, which arm {arm.name!r} does not bring; "
            f"add it under `assets:` with its folder. It brings: {', '.join(brought) or 'none'}"
        )


def _ensure_dependencies(task: TaskSpec, needed: tuple[str, ...]) -> None:
    brought = [one.target for one in task.dependencies]
    missing = [target for target in needed if target not in brought]
    if missing:
        raise SpecError(
            f"the oracle {task.oracle.kind!r} needs a dependency at {missing[0]!r}, which the task does not bring; "
            f"add it under `dependencies:`. It brings: {', '.join(brought) or 'none'}"
        )


def _pack_hidden(folder: Path, executes: tuple[str, ...]) -> bytes:
    """Pack the hidden files; raise SpecError where one that the check starts can't be: else cells are paid first."""
    contents = folder_contents(folder)
    files = {one.entry.path: one.entry for one in contents if one.entry.kind is tar.EntryKind.FILE}
    for path in executes:
        if path not in files:
            raise SpecError(
                f"the check starts {path!r}, and {folder} holds no such file; correct the first word of argv"
            )
        if not files[path].executable:
            raise SpecError(
                f"the check starts {folder / path}, which is not executable; run `chmod +x` on it "
                "(`git add --chmod=+x` keeps that), or begin argv with its interpreter"
            )
    return b"".join(tar.write(contents))


def _gate(factory: Callable[[], Gate], chosen: PluginSpec, tasks: tuple[str, ...], metrics: tuple[Metric, ...]) -> Pin:
    gate = factory()
    policy = gate.policy(chosen.options, tasks)
    if isinstance(gate, NeedsMetrics):
        declared = [metric.name for metric in metrics]
        missing = [name for name in gate.needed_metrics(policy) if name not in declared]
        if missing:
            raise SpecError(
                f"gate {chosen.kind!r} needs the metric {missing[0]!r}, which is not declared under metrics; "
                f"declared are: {', '.join(declared) or 'none'}"
            )
    return Pin(name=chosen.kind, version=gate.version, options=policy)
