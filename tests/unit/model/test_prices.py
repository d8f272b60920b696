"""Prices by a pinned table: exact, and never guessed."""

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from farm.model import Price, PriceTable, TokenUse

USE = TokenUse(whole=93510, ordinary_input=3010, cache_read=89000, cache_write=1500, output=150)


def _price(**given: Any) -> Price:
    return Price.model_validate(given)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        (("4", "20", "0.20", "5"), "0.04034"),
        (("3", "15", "0.30", "3.75"), "0.043605"),
        (("5", "25", "0.50", "6.25"), "0.072675"),
    ],
)
def test_a_session_costs_exactly_what_its_parts_cost(prices: tuple[str, str, str, str], cost: str) -> None:
    price = _price(**dict(zip(("input", "output", "cache_read", "cache_write"), prices, strict=True)))
    assert price.cost(USE) == Decimal(cost)


@pytest.mark.parametrize("lacking", ["ordinary_input", "cache_read", "cache_write", "output"])
def test_a_cost_with_an_unknown_part_is_unknown(lacking: str) -> None:
    price = _price(input=1, output=1, cache_read=1, cache_write=1)
    assert price.cost(USE.model_copy(update={lacking: None})) is None


def test_an_hours_cache_has_its_own_price_and_unless_told_apart_none() -> None:
    price = _price(input=0, output=0, cache_read=0, cache_write=5, cache_write_1h=10)
    assert price.cost(USE.model_copy(update={"cache_write_1h": 500})) == Decimal("0.01")
    assert price.cost(USE) is None
    assert price.cost(USE.model_copy(update={"cache_write": 0})) == 0


def test_a_table_without_a_model_or_with_a_negative_price_is_refused() -> None:
    with pytest.raises(ValidationError):
        PriceTable(models={})
    with pytest.raises(ValidationError):
        _price(input=-1, output=1, cache_read=1, cache_write=1)
