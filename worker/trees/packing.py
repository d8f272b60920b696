"""Pack a folder that a guest made into a tar: bounded, without what leads out of it, and without what is forbidden."""

import io
import os
import re
import stat
import tarfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from worker.trees.errors import TreeError
from worker.trees.opening import Beneath
from worker.trees.scan import GIT_FOLDER, Check, Found, blaming_the_tree, listing, shown

MOST_ENTRIES = 100_000
MOST_PATH_BYTES = 4096
MOST_BYTES = 2 << 30
_MTIME = 946_684_800
"""2000-01-01, as in the tars of snapshots."""


def pack(workspace: Path, folder: str, target: Path, markers: Iterable[str], check: Check) -> None:
    """Write the tar of `folder` in `workspace`, by paths below it, to the new file `target`; links are not followed.

    Call it once every process of the guest is dead. Raises TreeError for a folder that is not there, holds no file or
    a special one, breaks a bound, has a link out of itself, or a marker in a name, a link or a file's bytes.
    """
    forbidden = _Forbidden.of(markers)
    with Beneath(workspace) as whole, closing(_Opened.of(whole, folder)) as root:
        found = sorted(listing(root.descriptor, check), key=lambda one: os.fsencode(one.path))
        _ensure_bounds(folder, found)
        with (
            Beneath(root.descriptor) as beneath,
            blaming_the_tree(),
            target.open("xb") as stream,
            tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for one in found:
                check()
                _add(tar, beneath, one, forbidden)


@dataclass(frozen=True, slots=True)
class _Opened:
    descriptor: int

    @classmethod
    def of(cls, workspace: Beneath, folder: str) -> "_Opened":
        try:
            return cls(workspace.folder(folder))
        except OSError as error:
            raise TreeError(f"{folder!r} is no folder: {error.strerror}") from error

    def close(self) -> None:
        os.close(self.descriptor)


def _ensure_bounds(folder: str, found: list[Found]) -> None:
    if not any(stat.S_ISREG(one.status.st_mode) for one in found):
        raise TreeError(f"{folder!r} holds no file")
    size = sum(one.status.st_size for one in found if stat.S_ISREG(one.status.st_mode))
    if len(found) > MOST_ENTRIES or size > MOST_BYTES:
        raise TreeError(f"{folder!r} holds {len(found)} entries and {size} bytes: over {MOST_ENTRIES} or {MOST_BYTES}")
    for one in found:
        if len(os.fsencode(one.path)) > MOST_PATH_BYTES:
            raise TreeError(f"{folder!r} holds a path of more than {MOST_PATH_BYTES} bytes")
        if one.path.split("/")[0] == GIT_FOLDER:
            raise TreeError(f"{folder!r} holds a {GIT_FOLDER}")


def _add(tar: tarfile.TarFile, root: Beneath, one: Found, forbidden: "_Forbidden") -> None:
    mode = one.status.st_mode
    forbidden.ensure_absent(os.fsencode(one.path), f"the name {shown(one.path)!r}")
    member = tarfile.TarInfo(_text(one.path))
    member.mtime, member.mode = _MTIME, 0o755 if stat.S_ISDIR(mode) or mode & 0o100 else 0o644
    if stat.S_ISDIR(mode):
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    elif stat.S_ISLNK(mode):
        link = root.link(one.path)
        forbidden.ensure_absent(link, f"the link {shown(one.path)!r}")
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, _text(os.fsdecode(link)), 0o755
        _ensure_inside(one.path, member.linkname)
        tar.addfile(member)
    elif stat.S_ISREG(mode):
        member.size = one.status.st_size
        with os.fdopen(root.file(one.path), "rb") as file:
            tar.addfile(member, _Searched(file, forbidden, one.path))
    else:
        raise TreeError(f"{shown(one.path)!r} is no file, folder or link")


def _text(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise TreeError(f"{shown(path)!r} is not UTF-8") from None
    return path


def _ensure_inside(path: str, link: str) -> None:
    parts = [part for part in link.split("/") if part not in {"", "."}]
    climbs = next((at for at, part in enumerate(parts) if part != ".."), len(parts))
    if not link or link.startswith("/") or climbs > path.count("/") or ".." in parts[climbs:]:
        raise TreeError(f"{path!r} is a link to {link!r}, which leaves the folder")


@dataclass(frozen=True, slots=True)
class _Forbidden:
    """What no name and no file may hold."""

    pattern: re.Pattern[bytes] | None
    longest: int

    @classmethod
    def of(cls, markers: Iterable[str]) -> "_Forbidden":
        found = sorted({marker.encode() for marker in markers})
        pattern = re.compile(b"|".join(re.escape(marker) for marker in found)) if found else None
        return cls(pattern, max((len(marker) for marker in found), default=0))

    def ensure_absent(self, body: bytes, where: str) -> None:
        """Raise TreeError, naming what stands in `where`."""
        found = None if self.pattern is None else self.pattern.search(body)
        if found is not None:
            raise TreeError(f"{where} holds {found[0].decode()!r}, which is forbidden there")


class _Searched(io.RawIOBase):
    """A file that is searched while it is read; what lies across two pieces is found, too."""

    def __init__(self, file: io.BufferedReader, forbidden: _Forbidden, path: str) -> None:
        super().__init__()
        self._file = file
        self._forbidden = forbidden
        self._path = path
        self._tail = b""

    @override
    def read(self, size: int = -1) -> bytes:
        body = self._file.read(size)
        self._forbidden.ensure_absent(self._tail + body, f"the file {shown(self._path)!r}")
        keep = self._forbidden.longest - 1
        self._tail = (self._tail + body)[-keep:] if keep > 0 else b""
        return body
