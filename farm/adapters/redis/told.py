"""What others told through Redis, which may be of another version of the farm while a fleet is upgraded."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pydantic import BaseModel

from farm.errors import IntegrityError
from farm.model import parse_record

V = TypeVar("V", bound=BaseModel)


def read_each(kind: type[V], told: Iterable[str]) -> Iterator[V]:
    """Read what can be read. What can't is nobody's loss: the store alone is true."""
    for body in told:
        try:
            yield parse_record(kind, body.encode(), "Redis")
        except IntegrityError:
            continue
