"""Records that are written once and read back ever after: so doing it again gives the same bytes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from farm.errors import IntegrityError
from farm.model import Digest, Sealed, canonical_json, parse_record
from farm.ports import Records, read_required

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Written(Generic[V]):
    """A record as it stands in the store."""

    key: str
    value: V
    digest: Digest

    @property
    def sealed(self) -> Sealed:
        """Name the record by its whole key."""
        return Sealed(key=self.key, digest=self.digest)


def find(records: Records, key: str, kind: type[V]) -> Written[V] | None:
    """Read a record, if it is there."""
    body = records.read(key)
    return None if body is None else Written(key, parse_record(kind, body, key), Digest.of(body))


def required(records: Records, key: str, kind: type[V]) -> Written[V]:
    """Read a record that must be there."""
    body = read_required(records, key)
    return Written(key, parse_record(kind, body, key), Digest.of(body))


def write_once(records: Records, key: str, kind: type[V], make: Callable[[], V]) -> Written[V]:
    """Return the record at `key`; make and create it first when there is none. Whoever created it, it is the same."""
    written = find(records, key, kind)
    if written is not None:
        return written
    records.create(key, canonical_json(make()))
    return required(records, key, kind)


def write_same(records: Records, key: str, kind: type[V], value: V) -> Written[V]:
    """Create a record that is pure in others; raise IntegrityError when different bytes stand there."""
    body = canonical_json(value)
    if not records.create(key, body) and records.read(key) != body:
        raise IntegrityError(f"{key} differs from what its inputs give; compare the farm's version with the plan's")
    return Written(key, parse_record(kind, body, key), Digest.of(body))
