"""Reading records for an audit: damage is written down, never raised, so that the walk goes on."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel

from farm.audit.findings import Notebook
from farm.errors import IntegrityError, SpecError
from farm.model import Digest, canonical_json, parse_record
from farm.ports import Records

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Read(Generic[V]):
    """One record as it stands in the store; `value` is None when its bytes are not what they should be."""

    key: str
    digest: Digest
    value: V | None


@dataclass(slots=True)
class Reader:
    """Reads each record once and remembers its digest."""

    records: Records
    notebook: Notebook
    digests: dict[str, Digest] = field(default_factory=dict)

    def body(self, key: str) -> bytes | None:
        """Return a record's bytes; None, and a flaw, when there is none."""
        try:
            body = self.records.read(key)
        except SpecError:
            body = None  # a damaged record may name a key that no store takes
        if body is None:
            self.notebook.flaw(key, "it is missing")
            return None
        self.digests[key] = Digest.of(body)
        return body

    def read(self, kind: type[V], key: str) -> Read[V] | None:
        """Return a record as a `kind`; None when it is missing."""
        body = self.body(key)
        if body is None:
            return None
        return Read(key, self.digests[key], self._parsed(kind, key, body))

    def _parsed(self, kind: type[V], key: str, body: bytes) -> V | None:
        try:
            value = parse_record(kind, body, key)
            canonical = canonical_json(value)
        except (IntegrityError, SpecError):
            self.notebook.flaw(key, f"it is not a valid {kind.__name__} record")
            return None
        if canonical != body:
            self.notebook.flaw(key, "its bytes are not canonical JSON: the farm did not write them")
        return value
