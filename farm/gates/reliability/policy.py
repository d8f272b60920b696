"""The protocol's numbers. Each decides, so another number is another policy."""

from typing import Annotated

from pydantic import Field

from farm.model import Positive
from farm.model.base import Value

Share = Annotated[float, Field(ge=0, le=1)]


class ReliabilityPolicy(Value):
    """What must hold to be proven, and what shows harm."""

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
