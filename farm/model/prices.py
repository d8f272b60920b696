"""A price table: what a million tokens of each model cost, as a person pinned it in a file."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from farm.model.base import Value
from farm.model.sums import known_sum
from farm.model.tokens import TokenUse

Usd = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)]
_MILLION = Decimal(1_000_000)


class Price(Value):
    """US dollars for a million tokens of each kind."""

    input: Usd
    """Ordinary input."""
    output: Usd
    """Reasoning included."""
    cache_read: Usd
    cache_write: Usd
    cache_write_1h: Usd | None = None
    """None: what is kept for an hour costs no more than the rest."""

    def cost(self, use: TokenUse) -> Decimal | None:
        """Price a request's tokens, exactly; None when a number that has a price is unknown."""
        hour = use.cache_write_1h
        if self.cache_write_1h is None or use.cache_write == 0:
            hour = 0  # one price for both, or nothing to price
        parts = (
            (use.ordinary_input, self.input),
            (use.cache_read, self.cache_read),
            (None if use.cache_write is None or hour is None else use.cache_write - hour, self.cache_write),
            (hour, self.cache_write_1h or Decimal(0)),
            (use.output, self.output),
        )
        total = known_sum(None if count is None else count * price for count, price in parts)
        return None if total is None else total / _MILLION


class PriceTable(Value):
    """The prices by a model's id, as a request names it. What is not listed has no known price."""

    schema_version: Literal[1] = 1
    models: Annotated[dict[str, Price], Field(min_length=1)]
