"""JSON from strangers, read strictly: one document, no key twice, no number that JSON does not have."""

import json
import re
from typing import NoReturn

from pydantic import JsonValue

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class DocumentError(Exception):
    """The text is not exactly one strict JSON document; the message says why."""


def one_document(text: str | bytes) -> JsonValue:
    """Parse the whole of `text`, white space around it allowed; raise DocumentError for anything else."""
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError as error:
        raise DocumentError("nested too deeply") from error
    except ValueError as error:  # includes JSONDecodeError and UnicodeDecodeError
        raise DocumentError(str(error)) from error
    return value


def at_pointer(document: JsonValue, pointer: str) -> JsonValue:
    """Return what a JSON pointer (RFC 6901) leads to, or None when nothing is there."""
    try:
        return value_at(document, pointer)
    except DocumentError:
        return None


def value_at(document: JsonValue, pointer: str) -> JsonValue:
    """Return what a JSON pointer (RFC 6901) leads to; raise DocumentError when nothing is there."""
    value = document
    for raw in pointer.split("/")[1:]:
        key = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            raise DocumentError("nothing is at its pointer")
    return value


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {}
    for name, value in pairs:
        if name in result:
            raise DocumentError(f"the key {name!r} stands twice")
        result[name] = value
    return result


def _no_constant(text: str) -> NoReturn:
    raise DocumentError(f"{text} is no JSON number")
