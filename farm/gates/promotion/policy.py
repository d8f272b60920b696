"""The benchmark's thresholds, as the plan pins them. Every number that decides is a field."""

from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from farm.errors import SpecError
from farm.gates.options import checked
from farm.gates.pairs import ArmPair
from farm.model import Number, Positive
from farm.model.base import Value


def _share(text: str) -> str:
    if not 0 <= Fraction(text) <= 1:
        raise ValueError(f"{text!r} is not a share from 0 to 1")
    return text


Share = Annotated[str, StringConstraints(pattern=r"^[0-9]+/[1-9][0-9]*$"), AfterValidator(_share)]
"""An exact fraction as text: `1/2`."""
Least = Annotated[Number, Field(ge=0)]


class Efficiency(StrEnum):
    """What an implementation is to save; less is better."""

    COST = "cost_usd"
    OUTPUT_TOKENS = "output_tokens"
    DURATION = "duration_s"
    TURNS = "num_turns"

    @property
    def is_main_loop_only(self) -> bool:
        """Say whether what sub-agents spend may be missing in it."""
        return self in {Efficiency.OUTPUT_TOKENS, Efficiency.TURNS}


class ImplementationPolicy(Value):
    """For arms that write code."""

    work: Literal["implementation"] = "implementation"
    pairs: tuple[ArmPair, ...] = ()
    """(): each candidate of the plan against its one incumbent."""
    metric: Efficiency = Efficiency.COST
    min_runs: Positive = 3
    """Valid runs of each arm on each task."""
    min_improvement_pct: Least = 5.0
    """The median over gated tasks, where the margin does not decide."""
    max_task_regression_pct: Least = 20.0
    max_ungated_regression_pct: Least = 100.0
    """On a task that neither arm resolves."""
    least_gated_share: Share = "1/2"
    least_margin: Positive = 2
    """Resolved runs that the candidate is ahead by, over all tasks; fewer are noise."""


class ReviewPolicy(Value):
    """For arms that review code."""

    work: Literal["review"] = "review"
    pairs: tuple[ArmPair, ...] = ()
    """(): each candidate of the plan against its one incumbent."""
    min_runs: Positive = 3
    min_improvement: Least = 0.01
    """Of weighted F1, on one case with defects."""
    tolerance: Least = 1e-09
    """Of weighted F1: a loss within it is none."""


Policy = ImplementationPolicy | ReviewPolicy


def read_policy(options: dict[str, JsonValue]) -> Policy:
    """Check a person's options, or what the plan pins; raise SpecError naming the field."""
    work = options.get("work", "implementation")
    match work:
        case "implementation":
            return checked(ImplementationPolicy, options, "promotion")
        case "review":
            return checked(ReviewPolicy, options, "promotion")
        case _:
            raise SpecError(f"gate promotion: work is {work!r}; give implementation or review")
