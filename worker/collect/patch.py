"""The patch: what a session changed, as git would show it, without ever opening the session's own `.git`.

Git works on the template's repository (ours) with an index and an object folder of its own, and is told each path by
name: it walks nothing, honours no ignore rule, and finds no configuration that the guest could have written.
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from farm.model import MIB
from worker.trees.git import Git
from worker.trees.scan import GIT_FOLDER, Changes

MOST_PATCH_BYTES = 16 * MIB
_MOST_FILE_BYTES = 8 * MIB
_MOST_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class Patch:
    """A unified diff with binary parts; cut when it is over the cap.

    Left out is what git can't take: files over 8 MiB, those past 64 MiB in all, special files, and what lies below a
    folder called .git.
    """

    body: bytes
    truncated: bool


def patch_of(template: Path, workspace: Path, changes: Changes, scratch: Path) -> Patch | None:
    """Make the patch from `template` to `workspace`, using `scratch` (a new folder); None when nothing changed.

    Call it once every process of the guest is dead. Raises TreeError when git fails.
    """
    names = [*changes.removed, *_takeable(workspace, (*changes.added, *changes.changed))]
    if not names:
        return None
    scratch.mkdir(mode=0o700)
    repository = template / GIT_FOLDER
    git = Git(
        repository,
        workspace,
        {
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repository / "objects"),
        },
    )
    (scratch / "objects").mkdir()
    git.run("read-tree", "HEAD")
    listed = b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in names)
    git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=listed)
    whole = git.run("diff-index", "--cached", "--patch", "--binary", "--no-ext-diff", "--no-textconv", "HEAD")
    return Patch(whole[:MOST_PATCH_BYTES], truncated=len(whole) > MOST_PATCH_BYTES) if whole else None


def _takeable(workspace: Path, paths: tuple[str, ...]) -> Iterator[str]:
    room = _MOST_BYTES
    for path in paths:
        status = (workspace / path).lstat()
        is_file = stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_FILE_BYTES
        if GIT_FOLDER in path.lower().split("/") or not (is_file or stat.S_ISLNK(status.st_mode)):
            continue
        room -= status.st_size
        if room >= 0:
            yield path
