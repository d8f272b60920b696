"""A store in an S3 bucket: `s3://bucket/prefix`."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from farm.errors import SpecError
from farm.ports import StoreAccess

if TYPE_CHECKING:
    from farm.adapters.s3.store import S3Store

__all__ = ["open_store"]


def open_store(url: str, access: StoreAccess) -> "S3Store":
    """Open the store at `url`; nothing is asked of the server yet."""
    from farm.adapters.s3.store import S3Store  # noqa: PLC0415 (boto3 takes a third of a second; only S3 users pay)

    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment or "@" in parts.netloc:
        raise SpecError(f"store URL {url!r} is not a bucket's; write s3://bucket/prefix, without credentials")
    return S3Store(parts.netloc, parts.path.strip("/"), access)
