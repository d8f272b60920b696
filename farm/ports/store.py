"""A store: blobs and records under one root."""

from dataclasses import dataclass, field
from typing import Protocol

from farm.ports.blobs import BlobStore
from farm.ports.records import Records


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """What opening a remote store needs beside its URL; None leaves it to the client's own defaults."""

    endpoint_url: str | None = None
    region: str | None = None
    path_style: bool = False
    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)


class Store(Protocol):
    """The only truth of a farm."""

    @property
    def blobs(self) -> BlobStore: ...

    @property
    def records(self) -> Records: ...

    @property
    def url(self) -> str:
        """`file:///…` or `s3://bucket/prefix`, without credentials: what another process opens it by."""
        ...

    def check(self) -> None:
        """Prove exclusive creation by effect; raise SpecError when the store ignores it, or refuses us."""
        ...
