"""Copy folders of untrusted files."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from worker.trees.opening import Beneath
from worker.trees.scan import Found, walk

_COPY_CHUNK = 1 << 30


@dataclass(frozen=True, slots=True)
class Ownership:
    """Whose files they become; `changes` is False when that is already us, which saves the calls."""

    uid: int
    gid: int

    @property
    def changes(self) -> bool:
        return (self.uid, self.gid) != (os.geteuid(), os.getegid())


def give(path: Path | str, owner: Ownership) -> None:
    """Hand a file, folder or link over, never following it."""
    if owner.changes:
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)


def listing(source: Path) -> tuple[Found, ...]:
    """List all that a copy of `source` takes, .git included."""
    return tuple(walk(source, with_git=True))


def copy_tree(source: Path, found: tuple[Found, ...], target: Path, owner: Ownership) -> None:
    """Copy what `listing` found, files, folders and links (never followed), to the new folder `target`.

    Modification times are kept, so that a git index in the copy stays valid. What is no file, folder or link is left
    out. Nothing may change `source` meanwhile. A pure Python copy: 0.1 ms a file, as fast as `cp -a` for the small
    trees that most tasks have, and no process to start.
    """
    target.mkdir(mode=0o755)
    give(target, owner)
    with Beneath(source) as folder:
        for one in found:
            _copy(folder, f"{target}/{one.path}", one, owner)


def _copy(source: Beneath, target: str, found: Found, owner: Ownership) -> None:
    mode = found.status.st_mode
    if stat.S_ISDIR(mode):
        Path(target).mkdir(mode=(mode & 0o777) | 0o700)
    elif stat.S_ISLNK(mode):
        Path(target).symlink_to(os.fsdecode(source.link(found.path)))
    elif stat.S_ISREG(mode):
        _copy_file(source.file(found.path), target, found.status)
    else:
        return
    give(target, owner)


def _copy_file(taken: int, target: str, status: os.stat_result) -> None:
    try:
        made = os.open(
            target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, status.st_mode & 0o777
        )
        try:
            while os.sendfile(made, taken, None, _COPY_CHUNK):
                pass
            os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(made)
    finally:
        os.close(taken)
