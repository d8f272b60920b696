"""Say a validation error of a sweep file in a person's words."""

import re
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from farm.errors import did_you_mean
from farm.model import SweepSpec
from farm.model.names import NAME_PATTERN
from farm.planning.problems import Loc, Problem

_MOST_VALUE = 80


def problems(error: ValidationError, lines: Mapping[Loc, int], top: type[BaseModel] = SweepSpec) -> Iterator[Problem]:
    """Translate every detail of a failed `top`, once; the branches of a union that failed count as one."""
    seen: set[Loc] = set()
    for detail in error.errors(include_url=False):
        if _is_echo(detail):
            continue
        loc = _known(detail, lines)
        if loc in seen and loc != detail["loc"]:
            continue
        seen.add(loc)
        yield Problem(loc, _say(detail, top))


def _is_echo(detail: ErrorDetails) -> bool:
    """Say whether a list only seems too short because elements of it were refused."""
    given = detail["input"]
    least = detail.get("ctx", {}).get("min_length", 0)
    return detail["type"] == "too_short" and isinstance(given, list) and len(given) >= least


def _known(detail: ErrorDetails, lines: Mapping[Loc, int]) -> Loc:
    loc: Loc = detail["loc"]
    if detail["type"] == "missing":
        return loc
    while loc and loc not in lines:
        loc = loc[:-1]
    return loc


def _say(detail: ErrorDetails, top: type[BaseModel]) -> str:
    context = detail.get("ctx", {})
    match detail["type"]:
        case "extra_forbidden":
            return _unknown(str(detail["loc"][-1]), _fields(top, detail["loc"][:-1]), "field")
        case "missing":
            return "this field is missing; add it"
        case "enum" | "literal_error":
            names = re.findall(r"'([^']*)'", str(context["expected"]))
            return _unknown(str(detail["input"]), names, "value")
        case "value_error":
            return str(context["error"])
        case _:
            return _say_bad_value(detail, _short(detail["input"]))


def _say_bad_value(detail: ErrorDetails, value: str) -> str:
    pattern = detail.get("ctx", {}).get("pattern")
    match detail["type"]:
        case "string_type" if not isinstance(detail["input"], (dict, list)):
            return f"should be text, not {value}; quote it"
        case "string_pattern_mismatch" if pattern == NAME_PATTERN:
            return f"{value} is not a name: use lower-case letters, digits and dashes, a letter or digit first"
        case _:
            said = detail["msg"].replace("Input should be", "should be").replace("String should", "should")
            return f"{said[:1].lower()}{said[1:]}, not {value}"


def _unknown(name: str, known: list[str], what: str) -> str:
    return f"unknown {what} {name!r}; {did_you_mean(name, known)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}…"


def _fields(top: type[BaseModel], loc: Loc) -> list[str]:
    """List the fields of the model that stands at `loc` below `top`."""
    model: type[BaseModel] | None = top
    for part in loc:
        if model is not None and isinstance(part, str):
            model = _model_in(model.model_fields[part].annotation) if part in model.model_fields else None
    return sorted(model.model_fields) if model else []


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, types.UnionType, tuple, Annotated):
        return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
    return None
