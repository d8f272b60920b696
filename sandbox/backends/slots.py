"""Who runs a slot's guests on the host."""

import os

from sandbox.errors import SandboxError

_FIRST_ID = 2_100_000_000
"""Host uid and gid of slot 0: above what is given to people, by directory services too (they end at 2000200000), above
the ranges of containers (/etc/subuid's end at 600100000 by default, systemd's at 1879048191), below systemd's foreign
ids (from 2147352576)."""
IDS = range(_FIRST_ID, _FIRST_ID + 4096)
"""The ids of all slots that a machine can have."""


def owner(slot: int, *, drops: bool) -> tuple[int, int]:
    """Give the host uid and gid of `slot`: its own where root is dropped for it, else the worker's."""
    if slot not in range(len(IDS)):
        raise SandboxError(f"slot {slot} is not one of 0 to {len(IDS) - 1}")
    return (IDS[slot], IDS[slot]) if drops else (os.geteuid(), os.getegid())
