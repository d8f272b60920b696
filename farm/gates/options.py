"""A person's options for a gate, read as its policy."""

from typing import TypeVar

from pydantic import JsonValue, ValidationError

from farm.errors import SpecError
from farm.model.base import Value

P = TypeVar("P", bound=Value)


def checked(kind: type[P], options: dict[str, JsonValue], gate: str) -> P:
    """Read them as a `kind`, with its defaults; raise SpecError that names the gate, the field and what there is."""
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"]) or "options"
        known = ", ".join(kind.model_fields)
        raise SpecError(f"gate {gate}: {where}: {problem['msg']}; its options are: {known}") from error
