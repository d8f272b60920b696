"""What may be spent, as the plan pins it."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from farm.gates.options import checked
from farm.gates.pairs import ArmPair
from farm.model import Number
from farm.model.base import Value


class Measure(StrEnum):
    """What is counted."""

    USD = "usd"
    TOKENS = "tokens"
    """Input and output, as the cells' doors metered them."""


class SpendPolicy(Value):
    """The gate's policy."""

    measure: Measure = Measure.USD
    most: Annotated[Number, Field(ge=0)] | None = None
    """Of the whole sweep."""
    most_of_incumbent: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """How many times what its incumbent takes each candidate may take, over the cells of the same task and trial."""
    pairs: tuple[ArmPair, ...] = ()
    """(): each candidate of the plan against its one incumbent."""

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if self.most is None and self.most_of_incumbent is None:
            raise ValueError("it bounds nothing: say most (of the whole sweep), most_of_incumbent (a factor), or both")
        if self.pairs and self.most_of_incumbent is None:
            raise ValueError("pairs are compared by most_of_incumbent; add it, or drop them")
        return self


def read_policy(options: dict[str, JsonValue]) -> SpendPolicy:
    """Check a person's options; raise SpecError naming the field."""
    return checked(SpendPolicy, options, "spend")
