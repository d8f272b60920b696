"""Fields of a guest's JSON, taken at their word only when they have the right type; None when they don't."""

from decimal import Decimal, InvalidOperation

from pydantic import JsonValue

_MOST_COUNT = 1 << 53
_MOST_TEXT = 256
_MOST_COST = Decimal(1_000_000)


def count(value: JsonValue) -> int | None:
    """Give a whole number from 0, never a boolean."""
    return value if type(value) is int and 0 <= value <= _MOST_COUNT else None


def text(value: JsonValue) -> str | None:
    """Give a short text, for names and reasons."""
    return value if isinstance(value, str) and 0 < len(value) <= _MOST_TEXT and _is_unicode(value) else None


def answer(value: JsonValue) -> str | None:
    """Give a final answer: any text that can be recorded."""
    return value if isinstance(value, str) and _is_unicode(value) else None


def cost(value: JsonValue) -> Decimal | None:
    """Give an amount of US dollars, from a JSON number or its text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= _MOST_COST else None


def _is_unicode(value: str) -> bool:
    """JSON can spell lone surrogates, which no record can hold."""
    return not any("\ud800" <= char <= "\udfff" for char in value)
