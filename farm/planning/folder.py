"""Pack a person's folder (oracle files, overlays) into a deterministic tar; links and special files are refused."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from farm.errors import SpecError
from farm.model import MIB
from farm.planning import tar

MOST_FOLDER_BYTES = 64 * MIB
MOST_FOLDER_FILES = 10_000

LEFT_OUT = frozenset({"__pycache__", ".git"})
"""Made by running or keeping the files, different on each machine, and never an input."""


def folder_paths(folder: Path) -> tuple[str, ...]:
    """List the files of a folder by relative path, sorted; errors as `pack_folder`."""
    return tuple(content.entry.path for content in _contents(folder) if content.entry.kind is tar.EntryKind.FILE)


def folder_contents(folder: Path) -> list[tar.Content]:
    """Read what is in a folder, sorted by path; errors as `pack_folder`."""
    return _contents(folder)


def pack_folder(folder: Path) -> bytes:
    """Pack a folder; raise SpecError for what is missing, a link, a special file, not UTF-8 in name, or too large."""
    return b"".join(tar.write(_contents(folder)))


def read_file(path: Path, most_bytes: int) -> bytes:
    """Read a regular file that is no link; raise SpecError naming it otherwise, or when it is above `most_bytes`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(path, error) from None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SpecError(f"{path} is not a regular file; put a plain file there")
        body = stream.read(most_bytes + 1)
        if len(body) > most_bytes:
            size = os.fstat(descriptor).st_size
            raise SpecError(f"{path} has {size} bytes, above the {most_bytes} allowed; make it smaller")
    return body


def _contents(folder: Path) -> list[tar.Content]:
    if folder.is_symlink():
        raise SpecError(f"{folder} is a symbolic link; name the real folder")
    if not folder.exists():
        raise SpecError(f"there is no folder {folder}; check the path, which is relative to the sweep file")
    if not folder.is_dir():
        raise SpecError(f"{folder} is not a folder; name the folder that holds the files")
    contents: list[tar.Content] = []
    size = 0
    for content in _walk(folder, ""):
        contents.append(content)
        size += len(content.body)
        if size > MOST_FOLDER_BYTES or len(contents) > MOST_FOLDER_FILES:
            raise SpecError(
                f"{folder} holds more than {MOST_FOLDER_FILES} files or {MOST_FOLDER_BYTES} bytes; take some out"
            )
    if not any(content.entry.kind is tar.EntryKind.FILE for content in contents):
        raise SpecError(f"{folder} holds no file; put one there or drop the field")
    return sorted(contents, key=lambda content: content.entry.path.encode())


def _walk(folder: Path, prefix: str) -> Iterator[tar.Content]:
    try:
        paths = sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name))
    except OSError as error:
        raise _unreadable(folder, error) from None
    for path in paths:
        name = path.name
        if name in LEFT_OUT:
            continue
        if not name.isprintable() or not _is_utf8(name):
            raise SpecError(f"{folder} holds a file whose name is not printable UTF-8: {name!r}; rename it")
        status = path.lstat()
        match stat.S_IFMT(status.st_mode):
            case stat.S_IFDIR:
                yield tar.Content(tar.Entry(prefix + name, tar.EntryKind.FOLDER))
                yield from _walk(path, f"{prefix}{name}/")
            case stat.S_IFREG:
                body = read_file(path, MOST_FOLDER_BYTES)
                executable = bool(status.st_mode & stat.S_IXUSR)
                yield tar.Content(tar.Entry(prefix + name, tar.EntryKind.FILE, len(body), executable), body)
            case stat.S_IFLNK:
                raise SpecError(f"{path} is a symbolic link; put the file itself there")
            case _:
                raise SpecError(f"{path} is neither a file nor a folder; take it out")


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(path: Path, error: OSError) -> SpecError:
    if isinstance(error, FileNotFoundError):
        return SpecError(f"there is no file {path}; check the path, which is relative to the sweep file")
    if path.is_symlink():
        return SpecError(f"{path} is a symbolic link; put the file itself there")
    return SpecError(f"{path} can't be read: {error.strerror}")
