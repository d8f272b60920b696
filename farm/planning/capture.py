"""Capture a folder or a file by its content into a tar, the same bytes wherever it is captured.

What a sandbox will see read-only, or copied, may be large: it is streamed, within bounds, and refused when it changes
under our hands. Links stay links as long as they stay inside.
"""

import os
import posixpath
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from farm.errors import SpecError
from farm.model import GIB
from farm.planning import tar
from farm.planning.folder import LEFT_OUT

MOST_ENTRIES = 100_000
MOST_PATH_BYTES = 4096
MOST_BYTES = 2 * GIB

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Captured:
    """The tar, and what is in it by the paths below the source; "" is the source itself."""

    path: Path
    entries: tuple[tar.Entry, ...]

    def has_folder(self, path: str) -> bool:
        return any(entry.path == path and entry.kind is tar.EntryKind.FOLDER for entry in self.entries)


@dataclass(frozen=True, slots=True)
class _Seen:
    """An entry as it was when it was found."""

    entry: tar.Entry
    status: os.stat_result


def capture(source: Path, target: Path, below: str = "") -> Captured:
    """Write the tar of the folder or file `source` to `target`; its paths begin with `below`, if that is given.

    `.git` and `__pycache__` are left out. Raises SpecError, naming the path, for what is missing, empty, special, not
    UTF-8 in name, beyond the bounds, a link that leaves the folder, or changed while it was read.
    """
    seen = _found(source)
    placed = [tar.Entry(_joined(below, one.entry.path), *_rest(one.entry)) for one in seen]
    by_path = {entry.path: one for entry, one in zip(placed, seen, strict=True)}
    with target.open("xb") as stream:
        for entry in tar.with_folders(placed):
            stream.write(tar.header(entry))
            if entry.kind is tar.EntryKind.FILE:
                _copy(_place(source, by_path[entry.path].entry.path), by_path[entry.path].status, stream)
                stream.write(tar.padding(entry.size))
        stream.write(tar.end())
    return Captured(target, tuple(one.entry for one in seen))


def _joined(below: str, path: str) -> str:
    return "/".join(part for part in (below, path) if part)


def _rest(entry: tar.Entry) -> tuple[tar.EntryKind, int, bool, str]:
    return entry.kind, entry.size, entry.executable, entry.target


def _found(source: Path) -> list[_Seen]:
    try:
        status = source.lstat()
    except OSError as error:
        raise SpecError(f"{source} can't be captured: {error.strerror}; check the path") from None
    if stat.S_ISLNK(status.st_mode):
        raise SpecError(f"{source} is a symbolic link; name what it leads to")
    if stat.S_ISREG(status.st_mode):
        return [_Seen(_entry(source, "", status), status)]
    if not stat.S_ISDIR(status.st_mode):
        raise SpecError(f"{source} is neither a file nor a folder; name what shall be captured")
    seen = list(_bounded(source))
    if all(one.entry.kind is tar.EntryKind.FOLDER for one in seen):
        raise SpecError(f"{source} holds no file; put one there, or drop the field")
    return seen


def _bounded(source: Path) -> Iterator[_Seen]:
    size = 0
    for count, one in enumerate(_walk(source), start=1):
        size += one.entry.size
        if count > MOST_ENTRIES or size > MOST_BYTES:
            raise SpecError(f"{source} holds more than {MOST_ENTRIES} entries or {MOST_BYTES} bytes; take some out")
        yield one


def _walk(source: Path) -> Iterator[_Seen]:
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(_place(source, folder)) as listing:
                found = sorted(listing, key=lambda one: os.fsencode(one.name))
        except OSError as error:
            raise SpecError(f"{_place(source, folder)} can't be read: {error.strerror}") from None
        for one in found:
            if one.name in LEFT_OUT:
                continue
            path = _joined(folder, one.name)
            _ensure_name(source, path)
            status = one.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
            yield _Seen(_entry(Path(one.path), path, status), status)


def _place(source: Path, path: str) -> Path:
    return source / path if path else source


def _ensure_name(source: Path, path: str) -> None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise SpecError(f"{source} holds a name that is not UTF-8: {path!r}; rename it") from None
    if size > MOST_PATH_BYTES:
        raise SpecError(f"{source} holds a path of {size} bytes, above {MOST_PATH_BYTES}: {path[:200]!r}…; shorten it")


def _entry(place: Path, path: str, status: os.stat_result) -> tar.Entry:
    match stat.S_IFMT(status.st_mode):
        case stat.S_IFDIR:
            return tar.Entry(path, tar.EntryKind.FOLDER)
        case stat.S_IFREG:
            return tar.Entry(path, tar.EntryKind.FILE, status.st_size, bool(status.st_mode & stat.S_IXUSR))
        case stat.S_IFLNK:
            return tar.Entry(path, tar.EntryKind.LINK, target=_target(place, path))
        case _:
            raise SpecError(f"{place} is neither a file, a folder nor a link; take it out")


def _target(place: Path, path: str) -> str:
    """Check a link: relative, inside, and with `..` only in front, where no other link can turn it."""
    target = str(place.readlink())
    parts = [part for part in target.split("/") if part not in {"", "."}]
    climbs = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    if posixpath.isabs(target) or climbs > path.count("/") or ".." in parts[climbs:] or not _is_utf8(target):
        raise SpecError(f"{place} is a link to {target!r}, which leaves the folder; put there what it leads to")
    return target


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _copy(place: Path, seen: os.stat_result, stream: IO[bytes]) -> None:
    try:
        descriptor = os.open(place, _READ)
    except OSError as error:
        raise SpecError(f"{place} can't be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        size = 0
        while chunk := file.read(min(_CHUNK, seen.st_size + 1 - size)):
            size += len(chunk)
            if size > seen.st_size:
                break
            stream.write(chunk)
        now = os.fstat(descriptor)
    if size != seen.st_size or (now.st_ino, now.st_mtime_ns) != (seen.st_ino, seen.st_mtime_ns):
        raise SpecError(f"{place} changed while it was captured; let nothing write there, and plan again")
