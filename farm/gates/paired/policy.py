"""What is compared, and by which numbers it is decided, as the plan pins it."""

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from farm.gates.options import checked
from farm.gates.pairs import ArmPair
from farm.model import MetricName, Number
from farm.model.base import Value

CORRECT = "correct"
"""The metric that needs no declaring: 1 for a right answer within its scope, 0 for any other; more is better."""


class Question(StrEnum):
    """What a candidate is to show."""

    SUPERIORITY = "superiority"
    """It is better by more than the margin."""
    NON_INFERIORITY = "non-inferiority"
    """It is not worse by as much as the margin."""


class PairedPolicy(Value):
    """The gate's policy."""

    metric: MetricName = CORRECT
    question: Question = Question.SUPERIORITY
    margin: Annotated[Number, Field(ge=0)] = 0
    """In the metric's own unit."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Of the two-sided test; Holm's method spends it over the pairs."""
    least_coverage: Annotated[float, Field(gt=0, le=1)] = 0.9
    """The share of the planned pairs of runs of which both must be measured."""
    pairs: tuple[ArmPair, ...] = ()
    """(): each candidate of the plan against its one incumbent."""
    control: ArmPair | None = None
    """Two arms that are the same: where the test finds them to differ, nothing is decided."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Of the bootstrap, which is told and does not decide, and of the test where it has to draw."""

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if self.question is Question.NON_INFERIORITY and self.margin == 0:
            raise ValueError("non-inferiority needs a margin above 0: nothing shows that two arms are exactly alike")
        if len(set(self.pairs)) < len(self.pairs):
            raise ValueError("pairs names the same two arms twice")
        return self

    @property
    def bound(self) -> Fraction:
        """What a candidate's gain must exceed."""
        margin = Fraction(repr(self.margin))
        return margin if self.question is Question.SUPERIORITY else -margin

    @property
    def floor(self) -> Fraction:
        """What a candidate that gains less than is worse."""
        return min(self.bound, Fraction(0))


def read_policy(options: dict[str, JsonValue]) -> PairedPolicy:
    """Check a person's options; raise SpecError naming the field."""
    return checked(PairedPolicy, options, "paired")
