"""Unpack our own tar blobs, trusting none of them."""

import errno
import hashlib
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from worker.trees.errors import TreeError

_MOST_MEMBERS = 200_000
_ITS_OWN_FAULT = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}
"""What a disk says to a tar that no disk could hold; anything else, no room among it, is the host's fault."""


def contents(body: bytes) -> Mapping[str, str]:
    """Give the digest of each regular file in a tar of ours, by path; raise TreeError for no tar at all."""
    try:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as tar:
            files = ((member.name, tar.extractfile(member)) for member in tar if member.isreg())
            return {name: hashlib.sha256(file.read()).hexdigest() for name, file in files if file is not None}
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise TreeError(f"not a readable tar: {error}") from error


def unpack(body: bytes | Path, target: Path) -> tuple[str, ...]:
    """Unpack a tar of folders, regular files and links that stay inside into `target`; return the files' paths.

    Raises TreeError for an absolute path, `..`, a link that leaves `target`, a hard link, a device, a `.git` at the
    top, a name twice or too long, or no tar at all. Whatever the tar says, files are 0644 or 0755, folders 0755, owned
    by us.
    """
    stream: IO[bytes] = io.BytesIO(body) if isinstance(body, bytes) else body.open("rb")
    try:
        with stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            return _unpack(tar, target)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:  # ValueError: a NUL, letters in a number
        raise TreeError(f"not a readable tar: {error}") from error


def _unpack(tar: tarfile.TarFile, target: Path) -> tuple[str, ...]:
    paths: list[str] = []
    links: set[str] = set()
    for count, member in enumerate(tar):
        if count >= _MOST_MEMBERS:
            raise TreeError(f"a tar holds more than {_MOST_MEMBERS} members")
        path = _checked(member.name, links)
        if path is None:
            continue
        if member.issym():
            _ensure_inside(path, member.linkname)
            links.add(path)
        try:
            _lay(tar, member, target / path)
        except OSError as error:
            if error.errno not in _ITS_OWN_FAULT:
                raise
            raise TreeError(f"a tar holds {path!r}, which can't be placed: {error.strerror}") from error
        if not member.isdir():
            paths.append(path)
    return tuple(paths)


def _lay(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    if member.isdir():
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
        return
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if member.issym():
        place.symlink_to(member.linkname)
    elif member.isreg():
        _write(tar, member, place)
    else:
        raise TreeError(f"a tar holds {member.name!r}, which is no file, folder or symbolic link")


def _checked(name: str, links: set[str]) -> str | None:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if name.startswith("/") or ".." in parts:
        raise TreeError(f"a tar holds {name!r}, which points out of its folder")
    if not parts:
        return None
    if parts[0] == ".git":
        raise TreeError(f"a tar holds {name!r}: a snapshot has no .git of its own")
    for depth in range(1, len(parts) + 1):
        if "/".join(parts[:depth]) in links:
            raise TreeError(f"a tar holds {name!r}, at or below a symbolic link of its own")
    return "/".join(parts)


def _ensure_inside(path: str, link: str) -> None:
    """Follow `link` by its text alone: no step may leave the root, whatever other links say."""
    if not link or link.startswith("/"):
        raise TreeError(f"the link {path!r} points to {link!r}, outside its folder")
    depth = len(PurePosixPath(path).parts) - 1
    for part in link.split("/"):
        depth += -1 if part == ".." else (part not in {"", "."})
        if depth < 0:
            raise TreeError(f"the link {path!r} points to {link!r}, outside its folder")


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
    source = tar.extractfile(member)
    if source is None:
        raise TreeError(f"a tar holds no bytes for {member.name!r}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(place, flags, 0o755 if member.mode & 0o100 else 0o644)
    with source, os.fdopen(descriptor, "wb") as file:
        while chunk := source.read(1 << 20):
            file.write(chunk)
