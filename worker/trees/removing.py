"""Remove folders of untrusted files: closed ones, ones thousands of levels deep, ones with a great many entries.

A folder below is not descended into: it is moved up beside the others and emptied there. So there is no recursion, two
open descriptors are enough at any depth, no path gets too long, and memory holds the names of one batch.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path

from worker.trees.errors import TreeError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BATCH = 4096
_IS_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}
"""What a rename says when a guest chose our name first; an empty folder of that name is simply replaced."""


def remove_tree(path: Path) -> None:
    """Remove the folder `path` with all below it, following no link; one that is not there is no error.

    Nobody may change it meanwhile. Raises TreeError when something stays.
    """
    try:
        _remove(path)
    except FileNotFoundError as error:
        if os.path.lexists(path):
            raise TreeError(f"{path} could not be removed: {error}") from error
    except OSError as error:
        raise TreeError(f"{path} could not be removed: {error}") from error


def _remove(path: Path) -> None:
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise NotADirectoryError(f"{path} is no folder")
    with _opened(str(path), None) as root:
        names = (f".{number}" for number in count())
        while batch := _batch(root):
            for entry in batch:
                if entry.is_dir(follow_symlinks=False):
                    _empty(root, entry.name, names)
                    os.rmdir(entry.name, dir_fd=root)
                else:
                    os.unlink(entry.name, dir_fd=root)
    path.rmdir()


def _empty(root: int, folder: str, names: Iterator[str]) -> None:
    """Remove the files of a folder in `root`, and move its folders up into `root`, to be emptied in their turn."""
    with _opened(folder, root) as descriptor:
        while batch := _batch(descriptor):
            for entry in batch:
                if entry.is_dir(follow_symlinks=False):
                    _move_up(descriptor, entry.name, root, names)
                else:
                    os.unlink(entry.name, dir_fd=descriptor)


def _move_up(folder: int, name: str, root: int, names: Iterator[str]) -> None:
    _open_up(name, folder)  # only who may write to a folder may move it elsewhere
    for new in names:
        try:
            os.rename(name, new, src_dir_fd=folder, dst_dir_fd=root)
        except OSError as error:
            if error.errno not in _IS_TAKEN:
                raise
        else:
            return


def _batch(folder: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as listing:
        return list(islice(listing, _BATCH))


@contextmanager
def _opened(name: str, parent: int | None) -> Iterator[int]:
    _open_up(name, parent)
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_up(name: str, parent: int | None) -> None:
    """Give ourselves the rights to a folder that its guest closed."""
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        # chmod follows links, but what we just saw is a folder, and nobody is left to change it
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
