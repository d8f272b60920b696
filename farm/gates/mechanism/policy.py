"""What must come of each fault's script, as the plan pins it."""

from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from farm.errors import SpecError
from farm.gates.options import checked
from farm.gates.reliability.mechanism import MechanismPolicy
from farm.model import Name, Positive, Terminal
from farm.model.base import Value


class Expected(Value):
    """What a script must make a run come to."""

    oracle: bool
    claims: bool
    terminal: Terminal = Terminal.NONE
    replies: Positive
    """Of the model, all of which a run must use."""


class ExpectedPair(Value):
    """The same of both arms."""

    baseline: Expected
    governed: Expected


class MatrixPolicy(Value):
    """The gate's policy."""

    baseline: Name = "baseline"
    """The arm without a governor."""
    governed: Name = "governed"
    expected: Annotated[dict[Name, ExpectedPair], Field(min_length=1)]
    """By task."""
    limits: MechanismPolicy = MechanismPolicy()

    @model_validator(mode="after")
    def _two_arms(self) -> Self:
        if self.baseline == self.governed:
            raise ValueError(f"baseline and governed are two arms, not both {self.baseline!r}")
        return self

    def of(self, task: str, arm: str) -> Expected:
        """Give what is expected of a task in one of the two arms."""
        pair = self.expected[task]
        return pair.baseline if arm == self.baseline else pair.governed


def read_policy(options: dict[str, JsonValue], tasks: tuple[str, ...]) -> MatrixPolicy:
    """Check a person's options; raise SpecError naming the field, or a task of which nothing is expected."""
    policy = checked(MatrixPolicy, options, "mechanism")
    for task in tasks:
        if task not in policy.expected:
            raise SpecError(f"gate mechanism: expected says nothing of the task {task!r}; add what must come of it")
    return policy
