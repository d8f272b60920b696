"""The sweep that proves tasks before a session is paid for: each is done by nobody, and by its reference solution.

Its cells run as any others do, in the real sandbox. What must stay true: the tasks are those of the person's own plan,
byte for byte, and nothing that the person pays for has a part in it. Only their oracles' words are kept: the person
knows the hidden files, and nothing of such a sweep outlives its check.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from farm.errors import SpecError, did_you_mean
from farm.model import Arm, ArmRole, BreakerPolicy, Cell, Pin, Plan, PluginGroup, ReferenceSpec, Task
from farm.planning.folder import pack_folder
from farm.planning.freeze import plan_sweep
from farm.planning.load import read_spec
from farm.planning.ports import PluginSource
from farm.planning.presets import expand
from farm.ports import BlobStore

NOTHING = "nothing"
"""The arm whose sessions do nothing."""
NO_REVIEW = "nothing-found"
"""The arm that does so where a review is asked for: it says that it found nothing."""
TIMES = 2
"""How often each is done: a check that says two things of one workspace is of no use."""

_ASSET = "reference"
_REVIEW = "review"
"""The kind of oracle that scores one, and the program whose session writes it."""
_SINGLE = "single"
_WORKSPACE = "."
_REVIEWS = '"$FARM_OUT"/review'
"""Where a review's session puts its file."""
_FOUND_NOTHING = (
    """echo '{"schema_version": 1, "verdict": "comment", "findings": []}' >"$FARM_OUT"/review/review.json"""
)
_ANSWER = "Nothing more was done."


def plan_proofs(path: Path, chosen: Sequence[str], blobs: BlobStore, plugins: PluginSource) -> Plan:
    """Plan the proofs of the tasks called `chosen` of the sweep file at `path`, or of all of them.

    A task's cells are those of an arm that does nothing, and of an arm of its own where it has a reference. Raises
    SpecError for all that the person must change in the sweep file, and for a name of no task.
    """
    plan = plan_sweep(path, blobs, plugins, expensive=True)
    specs = {task.id: task for task in expand(read_spec(path).spec, path.parent).spec.tasks}
    unknown = next((name for name in chosen if name not in specs), None)
    if unknown is not None:
        raise SpecError(f"{path} has no task {unknown!r}; {did_you_mean(unknown, specs)}")
    tasks = tuple(_heard(task) for task in plan.tasks if not chosen or task.id in chosen)
    source = _Source(path.parent, blobs, plugins)
    nothing = {is_review: _nothing(source, is_review=is_review) for is_review in sorted(set(map(_is_review, tasks)))}
    references = {
        task.id: _reference(f"reference-{number}", wanted, source, is_review=_is_review(task))
        for number, task in enumerate(tasks, start=1)
        if (wanted := specs[task.id].reference) is not None
    }
    return Plan(
        name=plan.name,
        farm_version=plan.farm_version,
        tasks=tasks,
        arms=(*nothing.values(), *references.values(), *_overlaid(plan, source)),
        trials=TIMES,
        cells=tuple(
            cell for task in tasks for cell in _cells(task.id, nothing[_is_review(task)], references.get(task.id))
        ),
        sandbox=plan.sandbox,
        retry=plan.retry,
        breaker=BreakerPolicy(streak=0),
    )


def _overlaid(plan: Plan, source: "_Source") -> Iterator[Arm]:
    """Make arms without a cell, of the person's overlays: a task's setup is held to what those bring."""
    if all(task.setup is None for task in plan.tasks):
        return
    overlays = (arm.overlay for arm in plan.arms if arm.overlay is not None)
    for number, overlay in enumerate(overlays, start=1):
        yield _nothing(source, is_review=False).model_copy(update={"name": f"overlaid-{number}", "overlay": overlay})


def _heard(task: Task) -> Task:
    return task.model_copy(update={"oracle": task.oracle.model_copy(update={"keep_output": True})})


def _cells(task: str, nothing: Arm, reference: Arm | None) -> Iterator[Cell]:
    arms = [nothing.name] if reference is None else [nothing.name, reference.name]
    return (Cell(task=task, arm=arm, trial=trial) for trial in range(1, TIMES + 1) for arm in arms)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where an arm comes from, and where its bytes go to."""

    folder: Path
    blobs: BlobStore
    plugins: PluginSource


def is_of_nothing(arm: str) -> bool:
    """Say whether the arm of that name is one that does nothing."""
    return arm in {NOTHING, NO_REVIEW}


def _is_review(task: Task) -> bool:
    return task.oracle.kind == _REVIEW


def _nothing(source: _Source, *, is_review: bool) -> Arm:
    if is_review:
        return _arm(NO_REVIEW, [_runs(_FOUND_NOTHING), _says(_ANSWER)], source.plugins, program=_REVIEW)
    return _arm(NOTHING, [_says(_ANSWER)], source.plugins)


def _reference(name: str, wanted: ReferenceSpec, source: _Source, *, is_review: bool) -> Arm:
    """Make an arm of which each session copies the solution to where an agent would write it, and deletes what goes."""
    script: list[JsonValue] = [{"delete": {"path": path}} for path in wanted.removes]
    script.append(_says(_ANSWER if wanted.answer is None else wanted.answer))
    program, place = (_REVIEW, _REVIEWS) if is_review else (_SINGLE, _WORKSPACE)
    if wanted.files is None:
        return _arm(name, script, source.plugins, program)
    files = source.blobs.put(pack_folder(source.folder / wanted.files))
    lays = _runs(f"cp -Rp /cell/assets/{_ASSET}/. {place}")
    return _arm(name, [lays, *script], source.plugins, program).model_copy(update={"assets": {_ASSET: files}})


def _runs(command: str) -> JsonValue:
    return {"run": {"command": command, "must_succeed": True}}


def _says(text: str) -> JsonValue:
    return {"answer": {"text": text}}


def _arm(name: str, script: list[JsonValue], plugins: PluginSource, program: str = _SINGLE) -> Arm:
    agent = _pin("agents", "scripted", {"scripts": {"*": script}}, plugins)
    return Arm(name=name, role=ArmRole.CONTROL, agent=agent, program=_pin("programs", program, {}, plugins))


def _pin(group: PluginGroup, name: str, options: dict[str, JsonValue], plugins: PluginSource) -> Pin:
    made = plugins.load(group, name)(options)
    return Pin(name=name, version=made.version, options=made.options)
