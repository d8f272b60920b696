"""Which record keys are allowed: those that mean the same in a folder, in a bucket and in memory."""

import re

from farm.errors import SpecError
from farm.model.keys import BLOBS

_KEY = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}/)*[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")
_PREFIX = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}/)*(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,254})?")
_MOST_CHARACTERS = 900
"""S3 allows 1024 bytes for the store's own prefix and the key."""
_RESERVED = (BLOBS, "probes/", "tmp/")


def checked_key(key: str) -> str:
    """Return `key` when it may name a record; raise SpecError otherwise."""
    if len(key) > _MOST_CHARACTERS or not _KEY.fullmatch(key) or is_reserved(key):
        raise SpecError(
            f"{key!r} can't be a record's key: use names of letters, digits, '.', '_' and '-' joined by '/', "
            f"none starting with '.', and not below {', '.join(_RESERVED)}"
        )
    return key


def checked_prefix(prefix: str) -> str:
    """Return `prefix` when some key may start with it; raise SpecError otherwise."""
    if not _PREFIX.fullmatch(prefix):
        raise SpecError(f"{prefix!r} can't start a record's key: use names joined by '/', without '..'")
    return prefix


def is_reserved(key: str) -> bool:
    """Say whether `key` lies where a store keeps what is no record."""
    return key.startswith(_RESERVED)
