"""What a cell's sessions are expected to last, as earlier sweeps measured it."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from farm.model.arm import Arm
from farm.model.base import Value

FiniteSeconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Expected(Value):
    """What was measured of one task under one arm."""

    p50_s: FiniteSeconds
    """Half of the cells' sessions ended within."""
    p90_s: FiniteSeconds
    """Nine in ten did."""
    n: Annotated[int, Field(ge=1)]
    """How many cells were measured."""
    agent: str | None = None
    """Whose sessions they were; it speaks of no other agent. None: of any."""
    model: str | None = None
    """Which model the agent's options name; it speaks of no other."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.p50_s > self.p90_s:
            raise ValueError(f"half of the cells end within {self.p50_s:g} s, and nine in ten within {self.p90_s:g} s")
        return self

    def speaks_of(self, agent: str, model: str | None) -> bool:
        """Say whether it was measured with that agent and model, as far as it says so."""
        return self.agent is None or (self.agent, self.model) == (agent, model)


Duration = FiniteSeconds | Expected
"""Within how many seconds nine in ten end, or all that was measured."""


def most_s(duration: Duration) -> float:
    """Give within how many seconds nine in ten cells' sessions end."""
    return duration.p90_s if isinstance(duration, Expected) else duration


def typical_s(duration: Duration) -> float:
    """Give what half of the cells' sessions last at most, where that is known, else what nine in ten do."""
    return duration.p50_s if isinstance(duration, Expected) else duration


def model_of(arm: Arm) -> str | None:
    """Name the model that the arm's options name, if any."""
    model = arm.agent.options.get("model")
    return model if isinstance(model, str) else None
