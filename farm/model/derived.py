"""What a build made of a snapshot: recorded once in a store, for every sweep, arm and host that needs the same."""

from datetime import datetime
from typing import Literal

from farm.model.base import Value
from farm.model.canonical import canonical_json
from farm.model.digest import Digest
from farm.model.names import Name
from farm.model.plan import Plan
from farm.model.task import Build, Task


class Derived(Value):
    """derived/<lock>.json: the first host that made it wrote it; whoever comes later takes these bytes."""

    schema_version: Literal[1] = 1
    lock: Digest
    files: Digest
    """A tar blob."""
    size_bytes: int
    task: Name
    build: Name
    """By which task's build it was made; others may have the same lock."""
    host: str
    made_at: datetime


def build_lock(plan: Plan, task: Task, build: Build) -> Digest:
    """Digest all that determines what a build makes; what it is called, and where it is linked, does not."""
    return Digest.of(
        canonical_json(
            {
                "farm_version": plan.farm_version,
                "sandbox": plan.sandbox,
                "image": task.image,
                "snapshot": [task.snapshot.tree, *task.snapshot.hidden],
                "dependencies": [one.model_dump(mode="json") for one in task.dependencies],
                "copies": [one.model_dump(mode="json") for one in task.copies],
                "build": build.model_dump(mode="json", exclude={"name", "target"}),
            }
        )
    )
