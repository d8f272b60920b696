"""What a plan says of its lock, held against the lock itself."""

from farm.audit.findings import Notebook
from farm.errors import FarmError
from farm.model import Digest, Fixed, Plan, SweepId, SweepLock, canonical_json, differences, fixed_by, parse_record
from farm.model.keys import plan_key
from farm.ports import BlobStore
from farm.version import __version__


def check_lock(sweep: SweepId, plan: Plan, blobs: BlobStore, notebook: Notebook) -> None:
    """Note where the plan is not what its lock fixes; that the lock can be had at all is for whoever reads blobs."""
    known = plan.preregistration
    if known is None or known.lock is None:
        return
    where = plan_key(sweep)
    if plan.farm_version != __version__:
        notebook.leave(where, f"not held against its lock: planned by farm {plan.farm_version}, this is {__version__}")
        return
    try:
        lock = parse_record(SweepLock, blobs.get(known.lock.digest), f"the lock {known.lock.id}")
    except FarmError:
        return
    if lock.id != known.lock.id:
        notebook.flaw(where, f"its lock is called {lock.id!r}, and it says {known.lock.id!r}")
    locked, found = lock.subject.plan, fixed_by(plan)
    if known.pilot is not None:
        locked, found = _uncut(locked, found), _uncut(found, found)
    for one in differences(locked, found):
        notebook.flaw(where, f"it is not what its lock fixes: {one}")


def _uncut(fixed: Fixed, kept: Fixed) -> Fixed:
    """Keep what a pilot has of a sweep; its trials and expected durations are its own."""
    return fixed.model_copy(
        update={
            "tasks": {task: digest for task, digest in fixed.tasks.items() if task in kept.tasks},
            "oracles": {task: digest for task, digest in fixed.oracles.items() if task in kept.tasks},
            "trials": kept.trials,
            "conditions": fixed.conditions | {"durations": Digest.of(canonical_json({}))},
        }
    )
