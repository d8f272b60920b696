"""Who runs a slot's guests on the host."""

import os

from sandbox.errors import SandboxError

_FIRST_ID = 200_000
"""Host uid and gid of slot 0: above what distributions give to people and, by default, to containers' ranges."""


def owner(slot: int, *, drops: bool) -> tuple[int, int]:
    """Give the host uid and gid of `slot`: its own where root is dropped for it, else the worker's."""
    if slot < 0:
        raise SandboxError(f"slot {slot} is negative")
    return (_FIRST_ID + slot, _FIRST_ID + slot) if drops else (os.geteuid(), os.getegid())
