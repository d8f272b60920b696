"""A store: blobs and records under one root."""

from typing import Protocol

from farm.ports.blobs import BlobStore
from farm.ports.records import Records


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
