"""Look at one path of a workspace whose guests are dead, and take nothing in that they can have prepared for us."""

import errno
import os
import stat
from pathlib import Path

from farm.model import MIB
from worker.checks.file_checks import Absent, Found, NoText, Text, Unreached
from worker.trees.opening import Beneath

MOST_BYTES = 10 * MIB
"""What a task may set as its bound."""


def look(workspace: Path, path: str, most_bytes: int) -> Found:
    """Say what stands at `path` below `workspace`; no link is followed, and no more than `most_bytes` are read."""
    try:
        with Beneath(workspace) as root:
            descriptor = root.file(path)
    except OSError as error:
        return _unopened(error)
    try:
        return _content(descriptor, most_bytes)
    finally:
        os.close(descriptor)


def _unopened(error: OSError) -> Found:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return Absent()
        case errno.ELOOP:
            return Unreached("a link stands on the way")
        case errno.EXDEV:
            return Unreached("the path leads out of the workspace")
        case _:
            return Unreached(f"the path can't be opened: {error.strerror}")


def _content(descriptor: int, most_bytes: int) -> Found:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return Unreached("the path is no regular file")
    if status.st_size > most_bytes:
        return NoText(f"the file is larger than {most_bytes} bytes")
    with os.fdopen(os.dup(descriptor), "rb") as stream:
        body = stream.read(most_bytes)
    if b"\0" in body:
        return NoText("the file holds a NUL byte")
    try:
        return Text(body.decode("utf-8"))
    except UnicodeDecodeError:
        return NoText("the file is not UTF-8")
