"""The root of every value that crosses a border: frozen, closed, and without NaN."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen record; unknown fields and non-finite numbers are refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
    )


def is_none(value: object) -> bool:
    """Say whether a field is left out of its record, so that records without it keep the bytes that they had."""
    return value is None
