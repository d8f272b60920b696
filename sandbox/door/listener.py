"""A unix socket that one guest may call, and whose place may be as deep as a work root likes.

The kernel bounds a socket's path at 107 bytes; by way of a descriptor of its folder only the name counts.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BACKLOG = 128
"""More than the 64 links that a forwarder holds, so that none of them is ever turned away."""


@contextmanager
def listening(place: Path, owner: tuple[int, int]) -> Iterator[socket.socket]:
    """Listen at `place`, a new name in an existing folder, for callers of `owner`'s uid; remove it in the end.

    Raises OSError, as for a name that is taken.
    """
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"/proc/self/fd/{folder}/{place.name}")
            try:
                os.chmod(place.name, 0o600, dir_fd=folder)
                os.chown(place.name, *owner, dir_fd=folder, follow_symlinks=False)
                listener.listen(_BACKLOG)
                yield listener
            finally:
                os.unlink(place.name, dir_fd=folder)
    finally:
        os.close(folder)
