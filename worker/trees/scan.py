"""What a workspace holds, as a value: its fingerprint, and the changes between two of them.

Links are never followed. The top-level `.git` is left out as a whole: it is the agent's own, and nothing on the host
opens it. Folders count only through what they hold, as in git. Every file is hashed anew: sizes and times are the
agent's to set.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from farm.model import GIB, MIB, Digest
from worker.trees.errors import TreeLimit, TreeLimitError
from worker.trees.holes import extents, may_have_holes
from worker.trees.opening import Beneath

Check: TypeAlias = Callable[[], None]
"""Called between the steps of long work, no more than MIB bytes or a file apart; what it raises ends the work."""

GIT_FOLDER = ".git"
MOST_ENTRIES = 200_000
MOST_DEPTH = 256
MOST_BYTES = 8 * GIB
"""As the files' sizes tell it: to hash so many takes seconds, but they have to be written first."""
MOST_HOLE_BYTES = GIB
"""Holes cost their guest nothing, and us as much to hash as anything else."""
MOST_PATH_BYTES = 4095
"""The kernel opens nothing by a longer path."""
MOST_NAMING = 64 * MIB
"""Characters of all paths together: they are what we keep in memory."""
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


def go_on() -> None:
    """Check nothing."""


def scan(root: Path, check: Check = go_on) -> Tree:
    """Fingerprint what is below `root`; raise TreeLimitError past the bounds of this module, or for what is closed.

    The bounds hold before the first file is hashed, but for that of holes, which are looked for on the way.
    """
    with Beneath(root) as folder, blaming_the_tree():
        found = tuple(_walk(folder, check, with_git=False))
        hashing = _Hashing(folder, check)
        return Tree({one.path: hashing.entry(one) for one in found if not stat.S_ISDIR(one.status.st_mode)})


def listing(root: Path | int, check: Check = go_on) -> tuple[Found, ...]:
    """List all that is below `root`, .git included, folders before what they hold, without following links.

    `root` may be an opened folder. Raises TreeLimitError past the bounds of this module, which hold for all of it.
    """
    with Beneath(root) as folder, blaming_the_tree():
        return tuple(_walk(folder, check, with_git=True))


def is_plain(found: Found) -> bool:
    """Tell whether a copy is the same: it leaves out what is no file, folder or link, and opens closed folders."""
    mode = found.status.st_mode
    if stat.S_ISDIR(mode):
        return mode & stat.S_IRWXU == stat.S_IRWXU
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


@contextmanager
def blaming_the_tree() -> Iterator[None]:
    """Turn what whoever made a tree can make its reading fail with into a TreeLimitError."""
    try:
        yield
    except OSError as error:
        if error.errno not in _ITS_DOING:
            raise
        what = f"{error.strerror}, {shown(str(error.filename))[:_MOST_SHOWN]}"
        raise TreeLimitError(TreeLimit.UNREADABLE, f"the workspace can't be read: {what}") from error


def _walk(root: Beneath, check: Check, *, with_git: bool) -> Iterator[Found]:
    count = _Count()
    folders = [""]
    while folders:
        folder = folders.pop()
        if folder.count("/") >= MOST_DEPTH:
            raise TreeLimitError(TreeLimit.DEPTH, f"the workspace is more than {MOST_DEPTH} folders deep")
        with _listed(root, folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if path == GIT_FOLDER and not with_git:
                    continue
                check()
                found = Found(path, entry.stat(follow_symlinks=False))
                count.add(found)
                if stat.S_ISDIR(found.status.st_mode):
                    folders.append(path)
                yield found


@dataclass(slots=True)
class _Count:
    """What was seen so far, against the bounds."""

    entries: int = 0
    size: int = 0
    naming: int = 0

    def add(self, found: Found) -> None:
        """Count an entry; raise TreeLimitError when it is one too many."""
        path = found.path
        if 4 * len(path) > MOST_PATH_BYTES < len(os.fsencode(path)):
            what = f"a path is longer than {MOST_PATH_BYTES} bytes, {shown(path)[:_MOST_SHOWN]}"
            raise TreeLimitError(TreeLimit.UNREADABLE, f"the workspace can't be read: {what}")
        self.entries += 1
        self.naming += len(path)
        if self.entries > MOST_ENTRIES:
            raise TreeLimitError(TreeLimit.FILES, f"the workspace holds more than {MOST_ENTRIES} entries")
        if self.naming > MOST_NAMING:
            raise TreeLimitError(TreeLimit.FILES, f"the workspace's paths have more than {MOST_NAMING} characters")
        if not stat.S_ISDIR(found.status.st_mode):
            self.size += found.status.st_size
        if self.size > MOST_BYTES:
            raise TreeLimitError(TreeLimit.BYTES, f"the workspace holds more than {MOST_BYTES} bytes")


@contextmanager
def _listed(root: Beneath, folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    descriptor = root.folder(folder)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def shown(path: str) -> str:
    """Give a path as valid text: bytes that are not UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(slots=True)
class _Hashing:
    """Reads entries, and counts the holes in them."""

    root: Beneath
    check: Check
    holes: int = 0

    def entry(self, found: Found) -> Entry:
        mode, size = found.status.st_mode, found.status.st_size
        if stat.S_ISREG(mode):
            return Entry(EntryKind.FILE, bool(mode & 0o100), size, self._hash_of(found))
        if stat.S_ISLNK(mode):
            target = self.root.link(found.path)
            return Entry(EntryKind.LINK, executable=False, size=len(target), content=hashlib.sha256(target).hexdigest())
        return Entry(EntryKind.OTHER, executable=False, size=0, content=f"{stat.S_IFMT(mode):o}")

    def _hash_of(self, found: Found) -> str:
        descriptor = self.root.file(found.path)
        try:
            if may_have_holes(found.status):
                self._count_holes(descriptor, found.status.st_size)
            state = hashlib.sha256()
            self.check()
            while chunk := os.read(descriptor, MIB):
                state.update(chunk)
                self.check()
            return state.hexdigest()
        finally:
            os.close(descriptor)

    def _count_holes(self, descriptor: int, size: int) -> None:
        self.holes += size
        for extent in extents(descriptor, size):
            self.check()
            self.holes -= extent.end - extent.start
        os.lseek(descriptor, 0, os.SEEK_SET)
        if self.holes > MOST_HOLE_BYTES:
            raise TreeLimitError(TreeLimit.BYTES, f"the workspace holds more than {MOST_HOLE_BYTES} bytes of holes")
