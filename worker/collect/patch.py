"""The patch and the churn: what a session changed, as git would show it, without git ever seeing the workspace.

We read the changed files ourselves, by safe means, and hand git their bytes, as one more commit upon the template's.
So there is no `.git` of the guest's to open, no ignore rule, attribute, filter or flag to honour, no path to walk: git
has nothing but a repository of ours without a work tree.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from farm.model import MIB, Churn, Digest, matches_any
from worker.trees.git import Git
from worker.trees.opening import Beneath
from worker.trees.scan import GIT_FOLDER, Changes, shown

MOST_PATCH_BYTES = 16 * MIB
_MOST_FILE_BYTES = 8 * MIB
_MOST_BYTES = 64 * MIB
_MOST_COUNTS = 16 * MIB
_MOST_REPOSITORIES = 50
_ESCAPED = re.compile(rb"\\([0-7]{3}|.)")
_SIGNS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_COMMIT = b"""commit refs/heads/after
committer workspace <workspace@localhost> 946684800 +0000
data 0
from refs/heads/main^0
"""


@dataclass(frozen=True, slots=True)
class Patch:
    """A unified diff with binary parts; cut when it is over the cap.

    Left out is what git can't take: files over 8 MiB, those past 64 MiB in all, special files, and what lies below a
    folder called .git.
    """

    body: bytes
    truncated: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed: None for no patch, where nothing did."""

    patch: Patch | None
    churn: Churn


def add_to(repository: Path, workspace: Path, changes: Changes, target: Path) -> frozenset[str]:
    """Make `target` a repository whose main is that of `repository` with `changes`, as `workspace` has them now.

    It borrows the objects of `repository`, which must stay. Gives the paths that git can't take, as in a patch. Raises
    TreeError when git fails.
    """
    git = _repository(repository, target)
    (target / "objects/info").mkdir(mode=0o700)
    (target / "objects/info/alternates").write_text(f"{repository / 'objects'}\n")
    with Beneath(workspace) as folder:
        story = _Story(_outside_of_repositories(changes))
        git.feed(("fast-import", "--quiet", "--done"), story.told(folder))
    tip = (target / "refs/heads/after").read_text().strip()
    (target / "packed-refs").write_text(f"{tip} refs/heads/main\n")
    return frozenset(story.left_out)


def difference_of(
    repository: Path, workspace: Path, changes: Changes, scratch: Path, beside: tuple[str, ...] = ()
) -> Difference:
    """Make patch and churn from main of `repository` to `workspace`, using `scratch` (a new folder) for what changed.

    The globs `beside` match what is no work: it is in the patch, and not counted. Call it once every process of the
    guest is dead. Raises TreeError when git fails.
    """
    repositories, changes = _repositories(changes), _outside_of_repositories(changes)
    if not changes.paths:
        nothing = Churn(files=0, added_lines=0, removed_lines=0, binary_files=0, repositories=repositories)
        return Difference(None, nothing)
    git = _repository(repository, scratch)
    story = _Story(changes)
    with Beneath(workspace) as folder:
        git.feed(("fast-import", "--quiet", "--done"), story.told(folder))
    said = git.read(
        *("diff-tree", "-r", "--numstat", "--patch", "--binary", "--no-ext-diff", "--no-textconv", "--no-renames"),
        *("refs/heads/main", "refs/heads/after"),
        most_bytes=MOST_PATCH_BYTES + _MOST_COUNTS,
    )
    head, blank, whole = said.partition(b"\n\n")
    work = frozenset(path for path in changes.paths if not matches_any(path, beside))
    counts = _Counts.of(head, work) if blank and not story.left_out else _Counts(None, None, None)
    patch = Patch(whole[:MOST_PATCH_BYTES], truncated=len(whole) > MOST_PATCH_BYTES) if whole else None
    churn = Churn(
        files=len(work),
        added_lines=counts.added,
        removed_lines=counts.removed,
        binary_files=counts.binary,
        repositories=repositories,
        fingerprint=None if story.left_out else story.fingerprint(work),
    )
    return Difference(patch, churn)


def _repositories(changes: Changes) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in (*changes.added, *changes.changed):
        parts = path.split("/")
        place = next((at for at, part in enumerate(parts) if part.lower() == GIT_FOLDER), None)
        if place is not None:
            found[shown("/".join(parts[: place + 1]))] = None
    return tuple(sorted(found))[:_MOST_REPOSITORIES]


def _outside_of_repositories(changes: Changes) -> Changes:
    def outside(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for path in paths if GIT_FOLDER not in path.lower().split("/"))

    return Changes(outside(changes.added), outside(changes.changed), outside(changes.removed))


def _repository(original: Path, scratch: Path) -> Git:
    """Make a repository of our own in `scratch`, which borrows the template's objects and knows its one branch."""
    for name in ("", "objects", "refs"):
        (scratch / name).mkdir(mode=0o700)
    (scratch / "HEAD").write_text("ref: refs/heads/main\n")
    shutil.copyfile(original / "packed-refs", scratch / "packed-refs")
    return Git(scratch, env={"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(original / "objects")})


@dataclass(slots=True)
class _Story:
    """The changes as a stream for git fast-import, file by file."""

    changes: Changes
    left_out: list[str] = field(default_factory=list)
    _room: int = _MOST_BYTES
    _left: dict[str, Digest] = field(default_factory=dict)
    """What each file was left as; one that was removed is not in it."""

    def fingerprint(self, paths: AbstractSet[str]) -> Digest | None:
        """Digest how these of the changed paths were left; None of nothing."""
        lines = (b"%s\0%s\n" % (os.fsencode(path), self._left.get(path, "").encode()) for path in sorted(paths))
        return Digest.of(b"".join(lines)) if paths else None

    def told(self, folder: Beneath) -> Iterator[bytes]:
        yield _COMMIT
        for path in self.changes.removed:
            yield b"D " + _quoted(path) + b"\n"
        for path in (*self.changes.added, *self.changes.changed):
            yield from self._entry(folder, path)
        yield b"done\n"

    def _entry(self, folder: Beneath, path: str) -> Iterator[bytes]:
        status = os.stat(path, dir_fd=folder.descriptor, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            mode, body = b"120000", folder.link(path)
        elif stat.S_ISREG(status.st_mode) and status.st_size <= min(_MOST_FILE_BYTES, self._room):
            self._room -= status.st_size
            mode, body = (b"100755" if status.st_mode & 0o100 else b"100644"), _read(folder.file(path))
        else:
            self.left_out.append(path)
            return
        self._left[path] = Digest.of(mode + body)
        yield b"M %s inline %s\ndata %d\n" % (mode, _quoted(path), len(body))
        yield body
        yield b"\n"


def _read(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST_FILE_BYTES)


def _quoted(path: str) -> bytes:
    """Quote a path as git does: every byte that could end it, or is not plain ASCII, as an octal number."""
    plain = bytes(range(ord(" "), 0x7F)).replace(b'"', b"").replace(b"\\", b"")
    return b'"' + b"".join(b"%c" % byte if byte in plain else b"\\%03o" % byte for byte in os.fsencode(path)) + b'"'


def _unquoted(path: bytes) -> str:
    """Read a path as git's numstat writes it."""
    if not path.startswith(b'"'):
        return os.fsdecode(path)
    return os.fsdecode(_ESCAPED.sub(lambda found: _escaped(found[1]), path[1:-1]))


def _escaped(sign: bytes) -> bytes:
    return _SIGNS.get(sign) or (bytes([int(sign, 8)]) if sign.isdigit() else sign)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Lines and binary files of a numstat; None when unknown."""

    added: int | None
    removed: int | None
    binary: int | None

    @classmethod
    def of(cls, numstat: bytes, paths: AbstractSet[str]) -> "_Counts":
        """Count what git says of these paths."""
        rows = [row for line in numstat.splitlines() if _unquoted((row := line.split(b"\t", 2))[2]) in paths]
        text = [row for row in rows if row[0] != b"-"]
        return cls(sum(int(row[0]) for row in text), sum(int(row[1]) for row in text), len(rows) - len(text))
