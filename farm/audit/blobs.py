"""The blobs that a sweep stands on: the plan's inputs and the artifacts of every settled attempt."""

from collections.abc import Iterable

from farm.audit.findings import Notebook
from farm.errors import IntegrityError
from farm.model import AttemptCleanup, Digest, Outcome, Plan
from farm.model.keys import blob_key
from farm.ports import BlobStore


def named_blobs(plan: Plan, attempts: Iterable[Outcome | AttemptCleanup]) -> dict[Digest, str]:
    """Give every blob that the plan and the attempts name, with one reason why it is needed."""
    named = {origin.outcome: f"what {origin.sweep} measured of {cell}" for cell, origin in plan.reused.items()}
    for one in attempts:
        for artifact in one.artifacts:
            named[artifact.digest] = f"artifact {artifact.role} of attempt {one.attempt} of {one.cell}"
    if plan.prices is not None:
        named[plan.prices] = "the price table"
    for task in plan.tasks:
        named[task.snapshot.tree] = f"the snapshot of task {task.id}"
        named[task.prompt] = f"the prompt of task {task.id}"
        if task.oracle.files is not None:
            named[task.oracle.files] = f"the oracle's files of task {task.id}"
    for arm in plan.arms:
        for digest in () if arm.overlay is None else (arm.overlay.files, arm.overlay.instructions):
            if digest is not None:
                named[digest] = f"the overlay of arm {arm.name}"
        for name, digest in arm.assets.items():
            named[digest] = f"the asset {name} of arm {arm.name}"
    return named


def check_blobs(named: dict[Digest, str], blobs: BlobStore, notebook: Notebook) -> None:
    """Read every blob; the store verifies each by its name. One at a time: only one is in memory."""
    for digest, why in sorted(named.items()):
        try:
            blobs.get(digest)
        except IntegrityError as error:
            notebook.flaw(blob_key(digest), f"{why}: {error}")
