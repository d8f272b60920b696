"""Content receipts: whoever has the content can make them again. They sign nothing."""

import hashlib
import json

from pydantic import JsonValue

from farm.errors import SpecError

_MOST_WHOLE = 2.0**53


def receipt(kind: str, payload: JsonValue) -> str:
    """Give the receipt of `payload` as a `kind`; raise SpecError for what JSON can't say exactly."""
    return f"sha256:{hashlib.sha256(canonical({'kind': kind, 'payload': payload}).encode()).hexdigest()}"


def canonical(value: JsonValue) -> str:
    """Write a value in the one way: keys in the order of their UTF-16 code units, no blanks, whole numbers as such."""
    try:
        text = json.dumps(_ordered(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except ValueError as error:  # includes UnicodeEncodeError
        raise SpecError(f"a value has no canonical form: {error}") from error
    return text


def _ordered(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return {key: _ordered(value[key]) for key in sorted(value, key=_code_units)}
        case list():
            return [_ordered(one) for one in value]
        case float() if value.is_integer() and abs(value) < _MOST_WHOLE:
            return int(value)
        case _:
            return value


def _code_units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
