"""Durable, all-or-nothing files: a temporary file, fsync, one atomic step to the final name, fsync of the folder.

A bare exclusive open shows readers half a file (33 of 1,200 in a measurement); a link or a rename never does. A
temporary file that a killed writer left behind has no meaning and disturbs nobody.
"""

import errno
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from farm.errors import SpecError, TransientError

_READ_ONLY = 0o444
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EOPNOTSUPP}


@contextmanager
def answering(root: Path) -> Iterator[None]:
    """Turn what the file system refuses into the farm's errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _REFUSED:
            raise SpecError(
                f"the store's folder {root} can't be used ({error}); "
                "it must be a folder that this user may write to, on a file system with hard links"
            ) from error
        raise TransientError(f"the store's folder {root} did not take or give bytes: {error}") from error


class Spool:
    """Temporary files on the store's own file system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, chunks: Iterable[bytes]) -> Path:
        """Write `chunks` to a new read-only file and sync it."""
        path = self._folder / secrets.token_hex(12)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, _READ_ONLY)
        except FileNotFoundError:
            make_folder(self._folder)
            descriptor = os.open(path, flags, _READ_ONLY)
        try:
            for chunk in chunks:
                _write_all(descriptor, chunk)
            os.fsync(descriptor)
        except BaseException:
            path.unlink()
            raise
        finally:
            os.close(descriptor)
        return path


def link_new(spooled: Path, path: Path) -> bool:
    """Give the spooled file the name `path` unless it is taken; the spooled name goes. False: it was taken."""
    try:
        made = _with_folder(path, lambda: os.link(spooled, path))
    except FileExistsError:
        return False
    finally:
        spooled.unlink()
    _sync_names(path.parent, made)
    return True


def move(spooled: Path, path: Path) -> None:
    """Give the spooled file the name `path`, over equal bytes that may be there."""
    made = _with_folder(path, lambda: spooled.replace(path))
    _sync_names(path.parent, made)


def make_folder(folder: Path) -> tuple[Path, ...]:
    """Make `folder` and what is missing above it; return the folders in which a new name appeared."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
    return tuple(new.parent for new in missing)


def _write_all(descriptor: int, chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[os.write(descriptor, left) :]


def _with_folder(path: Path, step: Callable[[], object]) -> tuple[Path, ...]:
    """Take `step`, which needs the folder of `path`; it is made only when it turns out to be missing."""
    try:
        step()
    except FileNotFoundError:
        made = make_folder(path.parent)
        step()
        return made
    return ()


def _sync_names(folder: Path, made: tuple[Path, ...]) -> None:
    for changed in (folder, *made):
        descriptor = os.open(changed, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
