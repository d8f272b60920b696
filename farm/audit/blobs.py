"""The blobs that a sweep stands on: the plan's inputs and the artifacts of every settled attempt."""

from collections.abc import Iterable, Iterator

from farm.audit.findings import Notebook
from farm.errors import IntegrityError
from farm.model import Arm, AttemptCleanup, Digest, Outcome, Plan, Task
from farm.model.keys import blob_key
from farm.ports import BlobStore


def named_blobs(plan: Plan, attempts: Iterable[Outcome | AttemptCleanup]) -> dict[Digest, str]:
    """Give every blob that the plan and the attempts name, with one reason why it is needed."""
    named = {origin.outcome: f"what {origin.sweep} measured of {cell}" for cell, origin in plan.reused.items()}
    for one in attempts:
        named.update(_of_attempt(one))
    if plan.prices is not None:
        named[plan.prices] = "the price table"
    if plan.preregistration is not None and plan.preregistration.lock is not None:
        named[plan.preregistration.lock.digest] = "the lock"
    for task in plan.tasks:
        named.update(_of_task(task))
    for arm in plan.arms:
        named.update(_of_arm(arm))
    return named


def _of_attempt(one: Outcome | AttemptCleanup) -> Iterator[tuple[Digest, str]]:
    for artifact in one.artifacts:
        yield artifact.digest, f"artifact {artifact.role} of attempt {one.attempt} of {one.cell}"
    if isinstance(one, Outcome) and one.evidence is not None:
        for name, digest in one.evidence.builds.items():
            yield digest, f"what the build {name} had made for {one.cell}"


def _of_task(task: Task) -> Iterator[tuple[Digest, str]]:
    yield task.snapshot.tree, f"the snapshot of task {task.id}"
    yield task.prompt, f"the prompt of task {task.id}"
    for dependency in task.dependencies:
        yield dependency.files, f"the dependency {dependency.target} of task {task.id}"
    for copied in task.copies:
        yield copied.files, f"the copy {copied.target} of task {task.id}"
    if task.oracle.files is not None:
        yield task.oracle.files, f"the oracle's files of task {task.id}"


def _of_arm(arm: Arm) -> Iterator[tuple[Digest, str]]:
    for digest in () if arm.overlay is None else (arm.overlay.files, arm.overlay.instructions):
        if digest is not None:
            yield digest, f"the overlay of arm {arm.name}"
    for name, digest in arm.assets.items():
        yield digest, f"the asset {name} of arm {arm.name}"


def check_blobs(named: dict[Digest, str], blobs: BlobStore, notebook: Notebook) -> None:
    """Read every blob; the store verifies each by its name. One at a time: only one is in memory."""
    for digest, why in sorted(named.items()):
        try:
            blobs.get(digest)
        except IntegrityError as error:
            notebook.flaw(blob_key(digest), f"{why}: {error}")
