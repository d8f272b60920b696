"""How much of a plan must be measured, as the plan pins it."""

from typing import Annotated

from pydantic import Field, JsonValue

from farm.gates.options import checked
from farm.model import MetricName
from farm.model.base import Value

Share = Annotated[float, Field(ge=0, le=1)]


class CompletenessPolicy(Value):
    """The gate's policy."""

    of_arm: Share = 1.0
    """The share of each arm's planned cells that must be measured."""
    of_task: Share = 0.0
    """The same of each task under each arm."""
    metrics: tuple[MetricName, ...] = ()
    """Numbers that a cell must have besides its answer."""


def read_policy(options: dict[str, JsonValue]) -> CompletenessPolicy:
    """Check a person's options; raise SpecError naming the field."""
    return checked(CompletenessPolicy, options, "completeness")
