"""Folders made once a host that may go again when its disk is short: whoever uses one holds it."""

import fcntl
import os
import secrets
import time
from contextlib import closing, suppress
from pathlib import Path

from sandbox.locks import Held, try_lock
from worker.trees.removing import remove_tree

_GONE = ".gone-"


def use(path: Path) -> Held | None:
    """Hold a folder against `drop_one`, beside others that use it, and note that it was used; None when it is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    held = Held(path, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # whoever drops it holds it for one rename only
        if os.path.samestat(path.lstat(), status := os.fstat(descriptor)):
            os.utime(descriptor, ns=(time.time_ns(), status.st_mtime_ns))
            return held
    except FileNotFoundError:
        pass
    except BaseException:
        held.close()
        raise
    held.close()
    return None


def drop_one(root: Path) -> bool:
    """Remove the folder in `root` that was used last the longest ago and is not in use; False when there is none.

    Raises TreeError or OSError when some of it stays; the next call goes on with it.
    """
    for path in sorted(root.iterdir(), key=_age_key):
        gone = path if path.name.startswith(_GONE) else _set_aside(path)
        if gone is not None:
            remove_tree(gone)
            return True
    return False


def condemn(path: Path) -> None:
    """Take a folder that is not what it was out of its place, whoever uses it: for `drop_one` to remove."""
    with suppress(FileNotFoundError):  # somebody else has done so
        path.rename(path.with_name(_GONE + secrets.token_hex(8)))


def _age_key(path: Path) -> tuple[bool, int]:
    try:
        return (not path.name.startswith(_GONE), path.lstat().st_atime_ns)
    except FileNotFoundError:
        return (True, 0)


def _set_aside(path: Path) -> Path | None:
    held = try_lock(path)
    if held is None:
        return None
    with closing(held):
        return path.rename(path.with_name(_GONE + secrets.token_hex(8)))
