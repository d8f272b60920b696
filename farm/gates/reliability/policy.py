"""The protocol's numbers. Each decides, so another number is another policy."""

from typing import Annotated

from pydantic import Field, JsonValue, model_validator

from farm.gates.options import checked
from farm.gates.reliability.trial import Part
from farm.model import Name, Positive
from farm.model.base import Value

Share = Annotated[float, Field(ge=0, le=1)]


class Parts(Value):
    """Which arm is what."""

    baseline: Name = "baseline"
    model: Name = "governed-model-contract"
    reference: Name = "governed-reference-contract"

    @model_validator(mode="after")
    def _are_three(self) -> "Parts":
        if len(self.by_arm) < len(Part):
            raise ValueError("baseline, model and reference must be three arms")
        return self

    @property
    def by_arm(self) -> dict[str, Part]:
        return {self.baseline: Part.BASELINE, self.model: Part.MODEL, self.reference: Part.REFERENCE}


class ReliabilityPolicy(Value):
    """What must hold to be proven, and what shows harm."""

    parts: Parts = Parts()

    tasks: Positive = 20
    least_trials: Positive = 5
    least_adoption: Share = 0.80
    """Of all runs with the model's own contract: the lower end of Wilson's interval."""
    least_fidelity: Share = 0.80
    """Of all reference runs that opened just the contract that they were told."""
    most_false_exhaustion: Share = 0.10
    """Of the runs that the oracle passes: the upper end, and for harm the share itself."""
    most_false_abstention: Share = 0.10
    success_margin: Share = 0.05
    """How much less the governed arm may solve."""
    least_reduction: Share = 0.30
    """Of the baseline's share of false successes."""
    alpha: Share = 0.05
    penalty_margin: Share = 0.05
    """How much a contract of the model's own may cost in false rejections."""
    most_reference_rejection: Share = 0.15
    exhaustion_weight: float = 1.0
    abstention_weight: float = 0.35
    replicates: Positive = 10_000
    seed: int = 20260823
    sample: Positive = 10
    """How many right runs are drawn, by the seed, for a person to look at."""


def read_policy(options: dict[str, JsonValue]) -> ReliabilityPolicy:
    """Check a person's options; raise SpecError naming the field."""
    return checked(ReliabilityPolicy, options, "reliability")
