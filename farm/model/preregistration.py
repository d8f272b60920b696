"""Pre-registration, as a plan and its verdicts carry it: what was fixed before anything was paid, and was it kept.

What must stay true: a plan holds a lock's digest only after nothing was found to differ from it, so that who reads the
plan need not look again.
"""

from typing import Annotated

from pydantic import Field, model_validator

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.names import Name


class LockPin(Value):
    """The lock that the plan was held against, and did not differ from."""

    id: Name
    digest: Digest
    """Of the lock's canonical bytes, which the store keeps."""


Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class SourceState(Value):
    """The repository that holds the sweep file and its lock, as it was when the plan was made."""

    commit: Commit
    upstream: Commit | None = None
    """The commit of its branch's upstream, as the repository last saw it; None: the branch has none."""
    is_clean: bool
    """Whether every tracked file was as committed, and the lock and the sweep file were among them."""

    @property
    def is_published(self) -> bool:
        """Say whether the commit is the upstream one."""
        return self.commit == self.upstream

    @property
    def words(self) -> str:
        published = "the upstream one" if self.is_published else f"upstream {self.upstream or 'none'}"
        return f"commit {self.commit}, {published}, {'clean' if self.is_clean else 'not clean'}"


class PilotSize(Value):
    """How much of a sweep a pilot runs."""

    tasks: int
    of_tasks: int
    trials: int
    of_trials: int

    @property
    def words(self) -> str:
        return f"{self.tasks} of {self.of_tasks} tasks, {self.trials} trials in place of {self.of_trials}"


class Preregistration(Value):
    """What is known of how a plan was fixed beforehand. A plan without one was neither locked nor cut."""

    lock: LockPin | None = None
    """None: a pilot of a sweep that has no lock."""
    source: SourceState | None = None
    """None: nobody looked, as of a pilot."""
    pilot: PilotSize | None = None
    """Set where tasks or trials were cut: then no gate may pass, whatever it finds. It may still fail or find harm."""

    @model_validator(mode="after")
    def _says_something(self) -> "Preregistration":
        if self.lock is None and self.pilot is None:
            raise ValueError("a pre-registration needs a lock, unless it is a pilot's")
        return self

    @property
    def is_locked(self) -> bool:
        """Say whether the plan is, whole, what its lock fixes."""
        return self.lock is not None and self.pilot is None

    @property
    def is_committed(self) -> bool:
        return self.source is not None and self.source.is_clean

    @property
    def is_published(self) -> bool:
        return self.source is not None and self.source.is_published
