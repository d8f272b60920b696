"""Guidance that an arm must not see, tried on every task's files before anything is paid for."""

import posixpath
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from farm.model import MIB, Guidance, GuidanceError, matches_any, stripped

_MOST_BYTES = 1 * MIB


def guidance_problems(guidance: Guidance, laid: Mapping[str, bytes], snapshots: Mapping[str, Path]) -> Iterator[str]:
    """Say why the guidance can't be taken out of `laid` files or of the tasks' snapshots, tars by the tasks' names.

    A block or section that no file of any task holds is a mistake that would show what it was to hide.
    """
    found: set[str] = set()
    for path, body in laid.items():
        if matches_any(path, guidance.files):
            yield from _tried(f"the overlay's {path!r}", body, guidance, found)
    for task, snapshot in snapshots.items():
        with tarfile.open(snapshot, "r:") as archive:
            for member in archive:
                if matches_any(member.name, guidance.files) and member.name not in laid:
                    yield from _of_member(archive, member, f"task {task!r}, {member.name!r}", guidance, found)
    for name in (*guidance.blocks, *guidance.sections):
        if name not in found:
            yield f"no file of any task holds {name!r}; check how it is spelled, and which files are meant"


def _of_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, what: str, guidance: Guidance, found: set[str]
) -> Iterator[str]:
    if member.issym():
        target = posixpath.normpath(posixpath.join(posixpath.dirname(member.name), member.linkname))
        if not matches_any(target, guidance.files):
            yield f"{what} is a link to {target!r}, which would be read as it is; add that to the guidance's files"
        return
    if not member.isreg():
        return
    if member.size > _MOST_BYTES:
        yield f"{what} has {member.size} bytes, above the {_MOST_BYTES} allowed of instructions"
        return
    stream = archive.extractfile(member)
    if stream is not None:
        yield from _tried(what, stream.read(), guidance, found)


def _tried(what: str, body: bytes, guidance: Guidance, found: set[str]) -> Iterator[str]:
    try:
        found |= stripped(body.decode(), guidance).found
    except (UnicodeDecodeError, GuidanceError) as error:
        yield f"{what}: {error}"
