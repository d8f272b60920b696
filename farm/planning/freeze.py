"""Freeze a sweep: every input into the store, every input pinned by digest, every cell in its order.

What must stay true: the same inputs give the same plan on any machine, in any folder. Nothing is stored before all
of it was found good.
"""

import functools
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from farm.errors import SpecError
from farm.model import (
    Arm,
    ArmSpec,
    CellOrder,
    Duration,
    OracleSpec,
    Overlay,
    OverlaySpec,
    Pin,
    Plan,
    RepositorySpec,
    Scope,
    Snapshot,
    SweepSpec,
    Task,
    TaskSpec,
)
from farm.planning.admit import cross_checks
from farm.planning.brought import Places, bring, store
from farm.planning.cells import Ordering, order_cells
from farm.planning.controls import unlike_controls
from farm.planning.durations import Durations
from farm.planning.expanded import Expanded
from farm.planning.exposed import exposed_oracles
from farm.planning.guidance import guidance_problems
from farm.planning.inputs import ArmInput, Gathering, OverlayInput, TaskInput
from farm.planning.laying import Laid, overlay_problems
from farm.planning.load import read_spec
from farm.planning.narrow_windows import narrow_windows
from farm.planning.ports import PluginSource
from farm.planning.presets import expand
from farm.planning.problems import Problem, ProblemsError
from farm.planning.repository import pack_plain, pack_repository
from farm.ports import BlobStore
from farm.version import __version__

T = TypeVar("T")


def plan_sweep(path: Path, blobs: BlobStore, plugins: PluginSource, *, expensive: bool = False) -> Plan:
    """Load, admit and freeze the sweep file at `path`; its inputs are found relative to it and put into `blobs`.

    Expensive tasks are checked, and planned if `expensive` says so. Raises SpecError, naming file, line and field, for
    all that the person must change.
    """
    file = read_spec(path)
    try:
        return freeze(file.spec, path.parent, blobs, plugins, expensive=expensive)
    except ProblemsError as error:
        raise file.places.error(error.problems) from None


def freeze(spec: SweepSpec, folder: Path, blobs: BlobStore, plugins: PluginSource, *, expensive: bool = False) -> Plan:
    """Freeze `spec`, whose relative paths start at `folder`; raise ProblemsError for what is wrong with it."""
    expanded = expand(spec, folder)
    asked = tuple(task for task in expanded.spec.tasks if expensive or not task.expensive)
    planned = {task.id for task in asked}
    gathered = _gather(expanded.spec, asked, folder, plugins)
    with TemporaryDirectory(prefix="farm-snapshots-") as scratch:
        packed = _pack(expanded, planned, folder, Path(scratch))
        _ensure_overlays(expanded.spec.arms, gathered.arms, {task.id: packed[task.repository].tar for task in asked})
        snapshots = {source: pack.tar for source, pack in packed.items()}
        places = Places(folder, Path(scratch), snapshots, _overlaid(expanded.spec.arms, gathered.arms))
        brought = bring([(at, task) for at, task in enumerate(expanded.spec.tasks) if task.id in planned], places)
        put = functools.cache(blobs.put_file)  # many tasks may bring the same
        stored = {source: _stored(blobs, pack) for source, pack in packed.items()}
        tasks = tuple(
            _task(blobs, task, read, stored[task.repository]).model_copy(update=store(put, task, brought[task.id]))
            for task, read in zip(expanded.spec.tasks, gathered.tasks, strict=True)
            if task.id in planned
        )
    arms = tuple(_arm(blobs, arm, read) for arm, read in zip(expanded.spec.arms, gathered.arms, strict=True))
    plan = _plan(expanded, tasks, arms, gathered)
    return plan if gathered.prices is None else plan.model_copy(update={"prices": blobs.put(gathered.prices)})


@dataclass(frozen=True, slots=True)
class _Gathered:
    tasks: tuple[TaskInput, ...]
    arms: tuple[ArmInput, ...]
    gates: tuple[Pin, ...]
    prices: bytes | None
    durations: Durations | None


@dataclass(frozen=True, slots=True)
class _Pack:
    commit: str
    tar: Path
    hidden: tuple[str, ...]


def _gather(spec: SweepSpec, asked: tuple[TaskSpec, ...], folder: Path, plugins: PluginSource) -> _Gathered:
    planned = spec.model_copy(update={"tasks": asked})
    gathering = Gathering(folder, plugins)
    tasks = [gathering.task(index, task) for index, task in enumerate(spec.tasks)]
    arms = [gathering.arm(index, arm, spec.tasks) for index, arm in enumerate(spec.arms)]
    gates = [gathering.gate(index, planned) for index in range(len(spec.gates))]
    prices = None if spec.prices is None else gathering.prices(spec.prices)
    durations = None if spec.durations is None else gathering.durations(spec.durations)
    gathering.sandbox(spec.sandbox)
    problems = [*cross_checks(spec), *exposed_oracles(spec, folder), *_nothing_asked(spec, asked), *gathering.problems]
    problems += [] if problems else unlike_controls(planned.arms, _whole(arms))
    problems += [] if problems else narrow_windows(planned, _limits_s(planned, _whole(arms), durations))
    if problems:
        raise ProblemsError(problems)
    return _Gathered(_whole(tasks), _whole(arms), _whole(gates), prices, durations)


def _nothing_asked(spec: SweepSpec, asked: tuple[TaskSpec, ...]) -> Iterator[Problem]:
    if spec.tasks and not asked:
        yield Problem(("tasks",), "every task is expensive, and none was asked for; say --expensive")


def _limits_s(spec: SweepSpec, arms: tuple[ArmInput, ...], durations: Durations | None) -> dict[str, dict[str, float]]:
    """Say what each cell's sessions may last: what is expected of them, else their limits."""
    known = {} if durations is None else durations.most_s()
    return {
        task.id: {
            arm.name: known.get(task.id, {}).get(arm.name, read.sessions * task.limits.wall_s)
            for arm, read in zip(spec.arms, arms, strict=True)
        }
        for task in spec.tasks
    }


def _whole(found: Iterable[T | None]) -> tuple[T, ...]:
    """Drop the gaps; there are none when no problem was found."""
    return tuple(one for one in found if one is not None)


def _pack(expanded: Expanded, planned: AbstractSet[str], folder: Path, scratch: Path) -> dict[RepositorySpec, _Pack]:
    """Pack each repository once, before anything is stored."""
    pack = pack_plain if expanded.has_plain_repositories else pack_repository
    packed: dict[RepositorySpec, _Pack] = {}
    problems: dict[RepositorySpec, Problem] = {}
    for index, task in enumerate(expanded.spec.tasks):
        source = task.repository
        if task.id not in planned or source in packed or source in problems:
            continue
        target = scratch / f"{index}.tar"
        try:
            packed[source] = _Pack(pack(source, folder, target), target, source.hidden)
        except SpecError as error:
            problems[source] = Problem(("tasks", index, "repository"), str(error))
    if problems:
        raise ProblemsError(problems.values())
    return packed


def _ensure_overlays(specs: tuple[ArmSpec, ...], arms: tuple[ArmInput, ...], bases: dict[str, Path]) -> None:
    """Hold what arms lay over workspaces against the tars of what stands there, by task; raise ProblemsError."""
    problems = [
        Problem(("arms", index, "overlay"), text)
        for index, (arm, read) in enumerate(zip(specs, arms, strict=True))
        if arm.overlay is not None and read.overlay is not None
        for text in _overlay_problems(arm, read.overlay.laid or Laid({}, {}), bases)
    ]
    if problems:
        raise ProblemsError(problems)


def _overlay_problems(arm: ArmSpec, laid: Laid, bases: dict[str, Path]) -> Iterator[str]:
    yield from overlay_problems(arm, laid, bases)
    guidance = None if arm.overlay is None else arm.overlay.guidance
    if guidance is not None:
        bodies = {path: content.body for path, content in {**laid.base, **laid.own}.items()}
        yield from guidance_problems(guidance, bodies, bases)


def _stored(blobs: BlobStore, pack: _Pack) -> Snapshot:
    tree, size = blobs.put_file(pack.tar), pack.tar.stat().st_size
    return Snapshot(commit=pack.commit, tree=tree, size_bytes=size, hidden=pack.hidden)


def _task(blobs: BlobStore, task: TaskSpec, read: TaskInput, snapshot: Snapshot) -> Task:
    return Task(
        id=task.id,
        snapshot=snapshot,
        prompt=blobs.put(read.prompt),
        scope=Scope(allowed=task.allowed_changes, most_files=task.most_files, most_file_bytes=task.most_file_bytes),
        builds=task.builds,
        setup=task.setup,
        verify=task.verify,
        oracle=OracleSpec(
            kind=read.oracle.name,
            options=read.oracle.options,
            files=None if read.oracle_files is None else blobs.put(read.oracle_files),
            keep_output=task.oracle.keep_output,
            workspace=task.oracle.workspace,
            limits=task.oracle.limits,
        ),
        limits=task.limits,
        image=task.image,
        label=task.label,
        solvable=task.solvable,
        action=task.action,
        expensive=task.expensive,
    )


def _overlaid(arms: Iterable[ArmSpec], read: Iterable[ArmInput]) -> dict[str, tuple[str, ...]]:
    """List the files of the arms' overlays by arm."""
    overlays = ((arm.name, one.overlay) for arm, one in zip(arms, read, strict=True))
    laid = ((arm, overlay.laid) for arm, overlay in overlays if overlay is not None)
    return {arm: (*one.base, *one.own) for arm, one in laid if one is not None}


def _arm(blobs: BlobStore, arm: ArmSpec, read: ArmInput) -> Arm:
    overlay = None if arm.overlay is None or read.overlay is None else _overlay(blobs, read.overlay, arm.overlay)
    return Arm(
        name=arm.name,
        role=arm.role,
        incumbent=arm.incumbent,
        agent=read.agent,
        program=read.program,
        sessions=read.sessions,
        provider=arm.provider,
        requires=read.requires,
        overlay=overlay,
        assets={name: blobs.put(body) for name, body in read.assets.items()},
        plugins={name: plugin.version for name, plugin in arm.plugins.items()},
    )


def _overlay(blobs: BlobStore, read: OverlayInput, spec: OverlaySpec) -> Overlay:
    return Overlay(
        files=None if read.laid is None else blobs.put(read.laid.tar),
        boundary=spec.boundary,
        instructions=None if read.instructions is None else blobs.put(read.instructions),
        guidance=spec.guidance,
    )


def _plan(expanded: Expanded, tasks: tuple[Task, ...], arms: tuple[Arm, ...], read: _Gathered) -> Plan:
    spec, planned = expanded.spec, {task.id for task in tasks}
    plan = Plan(
        name=spec.name,
        farm_version=__version__,
        tasks=tasks,
        arms=arms,
        trials=spec.trials,
        cells=(),
        skipped=tuple(task.id for task in spec.tasks if task.id not in planned),
        order=spec.order,
        seed=spec.seed if spec.order is CellOrder.SEEDED else None,
        metrics=spec.metrics,
        gates=read.gates,
        budget=spec.budget,
        cell_budget=spec.cell_budget,
        sandbox=spec.sandbox,
        dispatch=spec.dispatch,
        retry=spec.retry,
        breaker=spec.breaker,
        deadline_s=spec.deadline_s,
        grace_s=spec.grace_s,
        windows=spec.windows,
        upload_s=spec.upload_s,
        durations={} if read.durations is None else _known(read.durations, tasks, arms),
    )
    return _with_cells(plan, Ordering(spec.order, spec.seed, plan.sessions_s)) if expanded.has_cells else plan


def _known(durations: Durations, tasks: tuple[Task, ...], arms: tuple[Arm, ...]) -> dict[str, dict[str, Duration]]:
    """Keep what the sweep has of a table that may serve many."""
    kept = {
        task.id: {arm.name: known for arm in arms if (known := durations.of(task.id, arm)) is not None}
        for task in tasks
    }
    return {task: by_arm for task, by_arm in kept.items() if by_arm}


def _with_cells(plan: Plan, ordering: Ordering) -> Plan:
    cells = order_cells([task.id for task in plan.tasks], [arm.name for arm in plan.arms], plan.trials, ordering)
    return plan.model_copy(update={"cells": tuple(cells)})
