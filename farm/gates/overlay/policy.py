"""The contract's constants and cases, as the plan pins them.

Every number that decides is a field, so that another number is another policy and never the same verdict.
"""

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Self

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, model_validator

from farm.errors import SpecError
from farm.gates.options import checked
from farm.model import MetricName, Name, Number, Positive
from farm.model.base import Value


def _positive_ratio(text: str) -> str:
    if Fraction(text) <= 0:
        raise ValueError(f"{text!r} is not a positive fraction")
    return text


Ratio = Annotated[str, StringConstraints(pattern=r"^[0-9]+/[1-9][0-9]*$"), AfterValidator(_positive_ratio)]
"""An exact fraction as text: `4/5`."""


class Comparator(StrEnum):
    """How efficacy is compared."""

    RATIO = "ratio"
    """Means, by the ratio of the metric's direction."""
    LIFT = "lift"
    """The retired fan-out rule: a least rise of the mean, and a least count of high ON samples."""


class BlockingGate(StrEnum):
    """A comparison that a case declares to decide."""

    REDUCTION = "reduction"


class Rules(Value):
    """The contract's numbers."""

    lower_ratio: Ratio = "4/5"
    higher_ratio: Ratio = "6/5"
    least_lift: Ratio = "1/2"
    lift_value: Number = 2
    lift_samples: Positive = 3


class CaseOptions(Value):
    """One case as a person writes it; what is left out comes from the options of all cases."""

    metric: MetricName | None = None
    planned: Positive | None = None
    correct_metric: Number | None = None
    gate: BlockingGate | None = None
    comparator: Comparator | None = None
    unsupported_hypothesis: Annotated[str, Field(min_length=1)] | None = None


class CasePolicy(Value):
    """One case as the plan pins it."""

    metric: MetricName
    planned: Positive | None = None
    """Samples of each arm; None: the plan's trials."""
    correct_metric: Number | None = None
    """A right answer must also have exactly this metric."""
    gate: BlockingGate | None = None
    comparator: Comparator = Comparator.RATIO
    unsupported_hypothesis: str | None = None
    """Why the claim is absent from the overlay's text; such a case buys no sample, and fails."""


class ArmNames(Value):
    """Which arm has the overlay, and which has not."""

    on: Name
    off: Name

    @model_validator(mode="after")
    def _two_arms(self) -> Self:
        if self.on == self.off:
            raise ValueError(f"arm {self.on!r} can't be both on and off")
        return self


class OverlayOptions(CaseOptions):
    """The gate's options: what holds for all cases, then each case's own."""

    arms: ArmNames | None = None
    cases: dict[Name, CaseOptions] = {}
    rules: Rules = Rules()


class OverlayPolicy(Value):
    """The gate's policy, complete."""

    arms: ArmNames | None = None
    """None: the plan's first candidate is on, its incumbent is off."""
    cases: dict[Name, CasePolicy]
    rules: Rules


def read_policy(options: dict[str, JsonValue], tasks: tuple[str, ...]) -> OverlayPolicy:
    """Check a person's options against the sweep's tasks; raise SpecError naming the field."""
    given = checked(OverlayOptions, options, "overlay")
    for task in given.cases:
        if task not in tasks:
            raise SpecError(
                f"gate overlay: cases names {task!r}, which is no task of this sweep; have {', '.join(tasks)}"
            )
    return OverlayPolicy(arms=given.arms, cases={task: _case(given, task) for task in tasks}, rules=given.rules)


def _case(given: OverlayOptions, task: str) -> CasePolicy:
    own = given.cases.get(task, CaseOptions())
    fields = {
        name: getattr(given, name) if getattr(own, name) is None else getattr(own, name)
        for name in CaseOptions.model_fields
    }
    if fields["metric"] is None:
        raise SpecError(f"gate overlay: task {task!r} has no metric; set `metric` for all cases or under cases.{task}")
    return CasePolicy.model_validate({name: value for name, value in fields.items() if value is not None})
