"""The options of a plug-in, as a task or an arm states them."""

from typing import TypeVar

from pydantic import JsonValue, ValidationError

from farm.errors import SpecError
from farm.model import Value

V = TypeVar("V", bound=Value)


def checked(kind: type[V], options: dict[str, JsonValue], whose: str) -> V:
    """Read `options` as a `kind`; raise SpecError that says whose they are, and the first place that is wrong."""
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "options"
        says = first["msg"]
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            says = f"there is no such option; those that there are: {', '.join(kind.model_fields)}"
        raise SpecError(f"the {whose}, {place}: {says}") from error
