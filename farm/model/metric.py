"""Metrics: named numbers of a cell. Unknown is None, never zero."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from farm.model.base import Value

Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number that is neither text nor a boolean; an integer stays exact."""

MetricName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_]*$", max_length=64)]


class Direction(StrEnum):
    """Which way is better."""

    HIGHER = "higher_is_better"
    LOWER = "lower_is_better"


class MetricSource(StrEnum):
    """Where a metric's number comes from; `key` says which of them."""

    TOOL_CALLS = "tool_calls"
    """Calls of the tool named by `key`, over all sessions; `*` counts every tool."""
    USAGE = "usage"
    """A field of the agent's native usage: input_tokens, output_tokens, thinking_tokens, …"""
    ORACLE = "oracle"
    """A number that the hidden oracle reported under `key`."""
    SESSION = "session"
    """turns, duration_s or cost_usd, summed over sessions."""


class Metric(Value):
    """One declared number of a cell: source, unit, bounds (inclusive), direction."""

    name: MetricName
    source: MetricSource
    key: str
    unit: str = "1"
    minimum: Number | None = None
    maximum: Number | None = None
    direction: Direction = Direction.LOWER

    @model_validator(mode="after")
    def _bounds_in_order(self) -> "Metric":
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"metric {self.name!r}: minimum {self.minimum} is above maximum {self.maximum}")
        return self


class Measured(Value):
    """A metric's observed value in one cell; `problem` says why there is none, or why it is out of bounds."""

    name: MetricName
    value: Number | None
    problem: str | None = None


__all__ = ["Direction", "Measured", "Metric", "MetricName", "MetricSource", "Number"]
