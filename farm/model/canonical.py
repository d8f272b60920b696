"""Canonical JSON: one value, one byte string, so that a digest of a record means something.

Sorted keys, no white space, UTF-8 without escapes, no NaN, a line feed at the end. Integers stay integers;
floats are Python's shortest repr, which is exact for IEEE doubles.
"""

import json
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from farm.errors import IntegrityError, SpecError

V = TypeVar("V", bound=BaseModel)


def canonical_json(value: BaseModel | JsonValue) -> bytes:
    """Encode `value`; raise SpecError for what JSON can't say exactly (NaN, infinity, lone surrogates)."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    try:
        text = json.dumps(plain, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode() + b"\n"
    except ValueError as error:  # includes UnicodeEncodeError
        raise SpecError(f"a value has no canonical JSON form: {error}") from error


def parse_record(kind: type[V], body: bytes, where: str) -> V:
    """Decode a stored record; raise IntegrityError naming `where` when the bytes are not a `kind`."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise IntegrityError(f"{where} is not a valid {kind.__name__} record: {error}") from error
