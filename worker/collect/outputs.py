"""Files that a guest left for us in /cell/out: regular, unlinked elsewhere, small, few, with names we can print.

Every step of the way is opened relative to the folder before it, through no link and no mount, and looked at again once
it is open, so that no swap between a look and an opening leads elsewhere. Nothing is unpacked: an archive is bytes.
Call it once every process of the guest is dead.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from farm.model import MIB
from worker.session import ArtifactProblem
from worker.trees.opening import Beneath

_MOST_REFUSALS = 50
_PROBLEMS = {
    errno.ENOENT: ArtifactProblem.NEVER_WRITTEN,
    errno.EACCES: ArtifactProblem.UNREADABLE,
    errno.EIO: ArtifactProblem.UNREADABLE,
}


@dataclass(frozen=True, slots=True)
class OutputCaps:
    """How much may come out."""

    files: int = 200
    entries: int = 2000
    file_bytes: int = 16 * MIB
    total_bytes: int = 64 * MIB
    depth: int = 16


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file's path below the folder, and its bytes."""

    path: str
    body: bytes


@dataclass(slots=True)
class Outputs:
    """What was taken, and what was refused and why (the first fifty)."""

    taken: list[OutputFile] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def take_outputs(folder: Path, caps: OutputCaps) -> Outputs:
    """Read the files below `folder` that may come out."""
    taking = _Taking(caps)
    try:
        root = Beneath(folder)
    except PermissionError:  # the guest closed it
        return Outputs(refused=["the folder itself: it may not be read"])
    with root:
        taking.walk(root, "", 0)
    taking.outputs.taken.sort(key=lambda file: file.path)
    return taking.outputs


def take_artifact(folder: Path, path: str, most_bytes: int) -> bytes | ArtifactProblem:
    """Read the one file at `path` below `folder`, or say what is wrong with it."""
    try:
        with Beneath(folder) as root:
            descriptor = root.file(path)
    except OSError as error:
        return _PROBLEMS.get(error.errno or 0, ArtifactProblem.IRREGULAR)
    try:
        status = os.fstat(descriptor)
        if _wrong_shape(status) is not None:
            return ArtifactProblem.IRREGULAR
        if status.st_size > most_bytes:
            return ArtifactProblem.TOO_LARGE
        body = _read(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    if len(body) != status.st_size:
        return ArtifactProblem.UNREADABLE
    return body or ArtifactProblem.EMPTY


class _Taking:
    def __init__(self, caps: OutputCaps) -> None:
        self.outputs = Outputs()
        self._caps = caps
        self._entries = 0
        self._bytes = 0

    def walk(self, folder: Beneath, prefix: str, depth: int) -> None:
        for name in self._names(folder.descriptor):
            path = f"{prefix}{name}"
            if not _is_printable(name):
                self._refuse(prefix, "a name that is not printable UTF-8")
                continue
            try:
                descriptor = folder.file(name)
            except OSError as error:  # a link, a socket, a file that we may not read
                self._refuse(path, error.strerror or "could not be opened")
                continue
            try:
                self._take(descriptor, path, depth)
            finally:
                os.close(descriptor)

    def _names(self, folder: int) -> Iterator[str]:
        with os.scandir(folder) as listing:
            for found in listing:
                self._entries += 1
                if self._entries > self._caps.entries:
                    self._refuse("…", f"more than {self._caps.entries} entries")
                    return
                yield found.name

    def _take(self, descriptor: int, path: str, depth: int) -> None:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            if depth >= self._caps.depth:
                self._refuse(path, f"more than {self._caps.depth} folders deep")
            else:
                self.walk(Beneath(descriptor), f"{path}/", depth + 1)
            return
        reason = self._refusal(status)
        body = b"" if reason else _read(descriptor, status.st_size)
        if reason is None and len(body) != status.st_size:
            reason = "it changed while it was read"
        if reason is not None:
            self._refuse(path, reason)
            return
        self._bytes += len(body)
        self.outputs.taken.append(OutputFile(path, body))

    def _refusal(self, status: os.stat_result) -> str | None:
        caps = self._caps
        shape = _wrong_shape(status)
        if shape is not None:
            return shape
        if status.st_size > caps.file_bytes:
            return f"larger than {caps.file_bytes} bytes"
        if self._bytes + status.st_size > caps.total_bytes:
            return f"more than {caps.total_bytes} bytes in all"
        if len(self.outputs.taken) >= caps.files:
            return f"more than {caps.files} files"
        return None

    def _refuse(self, path: str, reason: str) -> None:
        if len(self.outputs.refused) < _MOST_REFUSALS:
            self.outputs.refused.append(f"{path}: {reason}")


def _wrong_shape(status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "no regular file"
    if status.st_nlink != 1:
        return "linked elsewhere too"
    if status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        return "a program that would run as its owner"
    return None


def _read(descriptor: int, size: int) -> bytes:
    """Read `size` bytes and try one more: a file that grows is told by its length."""
    parts: list[bytes] = []
    left = size + 1
    while left > 0 and (part := os.read(descriptor, min(left, MIB))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _is_printable(name: str) -> bool:
    return name.isprintable() and not any("\udc80" <= char <= "\udcff" for char in name)
