"""Reading and writing the kernel's control files; making and removing the folders that they appear in."""

import errno
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

_GONE = (errno.ENOENT, errno.ENODEV)
StrPath = str | Path
"""Many control files are read a run: a name put together as text costs a fifth of what a Path does."""

_PIECE = 65536
_EMPTIED_S = 1.0
_AGAIN_S = 0.001


@dataclass(frozen=True, slots=True)
class Kernel:
    """What makes and removes groups; a kernel fills a new folder with its files and empties it again by itself."""

    make: Callable[[Path], None] = Path.mkdir
    remove: Callable[[Path], None] = Path.rmdir


def put(file: StrPath, value: object) -> None:
    """Write a control file. Raises SandboxError naming it."""
    try:
        _write(file, value)
    except OSError as error:
        raise SandboxError(f"{file} could not be set to {value}: {error.strerror}") from error


def put_where_there_is(file: StrPath, value: object) -> None:
    """Write a control file that some kernels do not have."""
    try:
        _write(file, value)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SandboxError(f"{file} could not be set to {value}: {error.strerror}") from error


def _write(file: StrPath, value: object) -> None:
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def text(file: StrPath) -> str | None:
    """Read a control file; None where there is none, or its group is gone. Raises SandboxError for all else.

    What can't be read may hold anything: a group is never taken for empty because this process has run out of
    descriptors.
    """
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return _all_of(fd).decode()
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise SandboxError(f"{file} could not be read: {error.strerror}") from error


def _all_of(fd: int) -> bytes:
    """Read to the end; a control file comes in pieces of a page."""
    content = b""
    while chunk := os.read(fd, _PIECE):
        content += chunk
    return content


def number(file: StrPath) -> int | None:
    """Read a number; None where the kernel has none. Raises SandboxError."""
    found = (text(file) or "").strip()
    return int(found) if found.isdigit() else None


def field(file: StrPath, name: str) -> int | None:
    """Read the number beside `name` in a file of `name number` lines; None where there is none. Raises SandboxError."""
    lines = (text(file) or "").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), None)


def pids(group: Path) -> list[int]:
    """Read who is in. Raises SandboxError."""
    return [int(pid) for pid in (text(f"{group}/cgroup.procs") or "").split()]


def remove_soon(kernel: Kernel, folder: Path) -> bool:
    """Remove a group, again and again while the kernel still finds it busy; tell whether it is gone."""
    deadline = time.monotonic() + _EMPTIED_S
    while True:
        try:
            kernel.remove(folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                return False
            time.sleep(_AGAIN_S)
        else:
            return True


def make_all(kernel: Kernel, folders: tuple[Path, ...]) -> None:
    """Make a group in every hierarchy, or in none. Raises OSError."""
    with ExitStack() as undo:
        for folder in folders:
            kernel.make(folder)
            undo.callback(remove_soon, kernel, folder)
        undo.pop_all()
