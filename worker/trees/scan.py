"""What a workspace holds, as a value: its fingerprint, and the changes between two of them.

Links are never followed. The top-level `.git` is left out as a whole: it is the agent's own, and nothing on the host
opens it. Folders count only through what they hold, as in git. Every file is hashed anew: sizes and times are the
agent's to set.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from farm.model import GIB, Digest
from worker.trees.errors import TreeError
from worker.trees.opening import Beneath

GIT_FOLDER = ".git"
MOST_ENTRIES = 200_000
MOST_DEPTH = 256
MOST_BYTES = 8 * GIB
_CHUNK = 1 << 20
_MOST_SHOWN = 300
_ITS_DOING = {errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO, errno.EXDEV}
"""What a guest can make an opening fail with: closed folders, which only root reads on, paths over 4096 bytes, …"""


class EntryKind(StrEnum):
    """What stands at a path."""

    FILE = "file"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a workspace; `content` is the digest of a file's bytes or of a link's target."""

    kind: EntryKind
    executable: bool
    size: int
    content: str


@dataclass(frozen=True, slots=True)
class Found:
    """A directory entry on the way: its path below the root, and its status without following."""

    path: str
    status: os.stat_result


@dataclass(frozen=True)
class Tree:
    """The entries of a workspace by path (as the file system decodes names)."""

    entries: Mapping[str, Entry]

    @cached_property
    def digest(self) -> Digest:
        """Digest sorted path, kind, x-bit, size and content."""
        whole = hashlib.sha256()
        for path in sorted(self.entries):
            entry = self.entries[path]
            line = f"\0{entry.kind} {entry.executable:d} {entry.size} {entry.content}\0"
            whole.update(os.fsencode(path) + line.encode())
        return Digest(whole.hexdigest())


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two trees, each sorted."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted((*self.added, *self.changed, *self.removed)))


def changes_between(before: Tree, after: Tree) -> Changes:
    old, new = before.entries, after.entries
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(path for path in old.keys() & new.keys() if old[path] != new[path])),
        removed=tuple(sorted(old.keys() - new.keys())),
    )


def scan(root: Path) -> Tree:
    """Fingerprint what is below `root`; raise TreeError past the bounds of this module, or for what we may not read."""
    with Beneath(root) as folder:
        try:
            return _scan(folder)
        except OSError as error:
            if error.errno in _ITS_DOING:
                what = f"{error.strerror}, {shown(str(error.filename))[:_MOST_SHOWN]}"
                raise TreeError(f"the workspace can't be read: {what}") from error
            raise


def _scan(root: Beneath) -> Tree:
    entries: dict[str, Entry] = {}
    total = 0
    for found in _walk(root, with_git=False):
        if stat.S_ISDIR(found.status.st_mode):
            continue
        total += found.status.st_size
        if total > MOST_BYTES:
            raise TreeError(f"the workspace holds more than {MOST_BYTES} bytes")
        entries[found.path] = _entry(root, found)
    return Tree(entries)


def walk(root: Path, *, with_git: bool = False) -> Iterator[Found]:
    """Yield every entry below `root`, folders before what they hold, without following links.

    The top-level .git is left out unless `with_git`. Raises TreeError for too many entries or too many levels.
    """
    with Beneath(root) as folder:
        yield from _walk(folder, with_git=with_git)


def _walk(root: Beneath, *, with_git: bool) -> Iterator[Found]:
    count = 0
    folders = [""]
    while folders:
        folder = folders.pop()
        if folder.count("/") >= MOST_DEPTH:
            raise TreeError(f"the workspace is more than {MOST_DEPTH} folders deep")
        with _listed(root, folder) as listing:
            for item in listing:
                path = f"{folder}/{item.name}" if folder else item.name
                if path == GIT_FOLDER and not with_git:
                    continue
                count += 1
                if count > MOST_ENTRIES:
                    raise TreeError(f"the workspace holds more than {MOST_ENTRIES} entries")
                found = Found(path, item.stat(follow_symlinks=False))
                if stat.S_ISDIR(found.status.st_mode):
                    folders.append(path)
                yield found


@contextmanager
def _listed(root: Beneath, folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    descriptor = root.folder(folder)
    try:
        with os.scandir(descriptor) as listing:
            yield listing
    finally:
        os.close(descriptor)


def shown(path: str) -> str:
    """Give a path as valid text: bytes that are not UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _entry(root: Beneath, found: Found) -> Entry:
    mode, size = found.status.st_mode, found.status.st_size
    if stat.S_ISREG(mode):
        return Entry(EntryKind.FILE, bool(mode & 0o100), size, _hash_of(root.file(found.path)))
    if stat.S_ISLNK(mode):
        target = root.link(found.path)
        return Entry(EntryKind.LINK, executable=False, size=len(target), content=hashlib.sha256(target).hexdigest())
    return Entry(EntryKind.OTHER, executable=False, size=0, content=f"{stat.S_IFMT(mode):o}")


def _hash_of(descriptor: int) -> str:
    try:
        state = hashlib.sha256()
        while chunk := os.read(descriptor, _CHUNK):
            state.update(chunk)
        return state.hexdigest()
    finally:
        os.close(descriptor)
