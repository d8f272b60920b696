"""Locking a sweep before it is paid for, and holding its plan against the lock.

What must stay true: a plan says that it is locked only when nothing at all differs, and a pilot is cut from a plan that
was found so.
"""

from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from farm.errors import SpecError
from farm.model import (
    Code,
    Digest,
    LockPin,
    LockSubject,
    PilotSize,
    Plan,
    Preregistration,
    SweepLock,
    SweepSpec,
    canonical_json,
    differences,
    fixed_by,
)
from farm.planning.cells import Ordering, order_cells
from farm.planning.folder import read_file
from farm.version import __version__

MOST_LOCK_BYTES = 4 << 20
_PACKAGES = ("farm", "worker", "sandbox")
_ANALYSIS = ("farm/gates", "farm/stats")
_PRESETS = ("farm/presets",)
_LIBRARIES = ("numpy", "scipy")
_UNREAD = "__pycache__"


@dataclass(frozen=True, slots=True)
class Cut:
    """What a pilot is cut to; None leaves it whole."""

    most_tasks: int | None = None
    trials: int | None = None


def lock_subject(spec: SweepSpec, plan: Plan) -> LockSubject:
    """Take what a lock of the sweep fixes, with the code of this farm."""
    return LockSubject(
        spec=Digest.of(canonical_json(spec.model_dump(mode="json", exclude={"lock"}))),
        farm_version=__version__,
        code=own_code(),
        libraries={name: metadata.version(name) for name in _LIBRARIES},
        plan=fixed_by(plan),
    )


def own_code() -> Code:
    """Digest the farm's own files, as they are installed here."""
    found = {f"{package}/{path}": digest for package in _PACKAGES for path, digest in _files(package).items()}
    analysis = {path for path in found if _is_below(path, _ANALYSIS)}
    presets = {path for path in found if _is_below(path, _PRESETS)}

    def digest(paths: set[str]) -> Digest:
        return Digest.of(canonical_json({path: str(found[path]) for path in paths}))

    return Code(runner=digest(found.keys() - analysis - presets), analysis=digest(analysis), presets=digest(presets))


def _files(package: str) -> dict[str, Digest]:
    spec = find_spec(package)  # found without importing it: planning never loads a worker's code
    if spec is None or spec.origin is None:
        raise SpecError(f"the package {package!r}, which runs the sweep, is not installed here; install cellfarm whole")
    root = Path(spec.origin).parent
    return {
        path.relative_to(root).as_posix(): Digest.of(path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and _UNREAD not in path.parts
    }


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(PurePosixPath(path).is_relative_to(folder) for folder in folders)


def read_lock(path: Path) -> SweepLock:
    """Read a lock file; raise SpecError naming the file and what is wrong with it."""
    body = read_file(path, MOST_LOCK_BYTES)
    try:
        return SweepLock.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        raise SpecError(
            f"{path} is not a lock: {place}: {first['msg']}; a lock is written by `farm lock` and never changed"
        ) from None


def ensure_locked(lock: SweepLock, subject: LockSubject) -> LockPin:
    """Give the lock's pin; raise SpecError that names each difference between it and what was found."""
    found = differences(lock.subject, subject)
    if found:
        listed = "\n".join(f"  {one}" for one in found)
        raise SpecError(
            f"the sweep is not what the lock {lock.id!r} fixes; undo the differences, or lock it anew under "
            f"another id:\n{listed}"
        )
    return LockPin(id=lock.id, digest=lock.digest)


def pilot_of(plan: Plan, cut: Cut) -> Plan:
    """Cut a plan to its first tasks and to other trials, and mark it a pilot; a cut that changes nothing marks none."""
    tasks = plan.tasks[: cut.most_tasks]
    trials = plan.trials if cut.trials is None else cut.trials
    if (len(tasks), trials) == (len(plan.tasks), plan.trials):
        return plan
    size = PilotSize(tasks=len(tasks), of_tasks=len(plan.tasks), trials=trials, of_trials=plan.trials)
    known = plan.preregistration
    names = [task.id for task in tasks]
    narrowed = plan.model_copy(
        update={
            "tasks": tasks,
            "trials": trials,
            "durations": {task: by_arm for task, by_arm in plan.durations.items() if task in names},
            "preregistration": Preregistration(lock=None if known is None else known.lock, pilot=size),
        }
    )
    ordering = Ordering(plan.order, plan.seed or 0, narrowed.sessions_s)
    cells = order_cells(names, [arm.name for arm in plan.arms], trials, ordering) if plan.cells else ()
    return Plan.model_validate({name: getattr(narrowed, name) for name in Plan.model_fields} | {"cells": tuple(cells)})
