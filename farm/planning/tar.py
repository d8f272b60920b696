"""A tar that is the same bytes everywhere: our own writer, since the standard library's output is not promised.

ustar headers, a pax header only where a name doesn't fit, owner 0, one fixed time, modes 644 and 755, entries sorted
by path bytes with every folder before what it holds, two zero blocks at the end.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

BLOCK = 512
MTIME = 946_684_800
"""2000-01-01: some build tools (zip, for one) refuse files from before 1980."""

_NAME_BYTES = 100


class EntryKind(StrEnum):
    """What an entry is; the values are ustar's type flags."""

    FILE = "0"
    LINK = "2"
    FOLDER = "5"


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tar, relative, with slashes."""

    path: str
    kind: EntryKind
    size: int = 0
    executable: bool = False
    target: str = ""


def with_folders(entries: Iterable[Entry]) -> list[Entry]:
    """Add every folder on the way to an entry and sort all of it."""
    known = {entry.path: entry for entry in entries}
    parents = {parent for path in known for parent in accumulate(path.split("/")[:-1], "{}/{}".format)}
    folders = [Entry(path, EntryKind.FOLDER) for path in parents if path not in known]
    return sorted([*known.values(), *folders], key=lambda entry: entry.path.encode())


def header(entry: Entry) -> bytes:
    """Write the header blocks of an entry; its content, padded, comes next."""
    name = f"{entry.path}/" if entry.kind is EntryKind.FOLDER else entry.path
    records = b"".join(
        _pax_record(key, text)
        for key, text in (("linkpath", entry.target), ("path", name))
        if not text.isascii() or len(text) > _NAME_BYTES
    )
    extended = _block(b"pax", b"x", 0o644, len(records)) + records + padding(len(records)) if records else b""
    mode = 0o644 if entry.kind is EntryKind.FILE and not entry.executable else 0o755
    return extended + _block(name.encode(), entry.kind.encode(), mode, entry.size, entry.target.encode())


def padding(size: int) -> bytes:
    """Fill content of `size` bytes up to a whole block."""
    return b"\0" * (-size % BLOCK)


def end() -> bytes:
    """Close a tar."""
    return b"\0" * (2 * BLOCK)


def write(contents: Iterable["Content"]) -> Iterator[bytes]:
    """Yield a whole small tar, folders added, from contents in memory."""
    by_path = {content.entry.path: content for content in contents}
    for entry in with_folders(content.entry for content in by_path.values()):
        body = by_path[entry.path].body if entry.path in by_path else b""
        yield header(entry) + body + padding(len(body))
    yield end()


@dataclass(frozen=True, slots=True)
class Content:
    """An entry and its bytes."""

    entry: Entry
    body: bytes = b""


def _pax_record(key: str, text: str) -> bytes:
    tail = f" {key}={text}\n".encode()
    size = len(tail) + 1
    while len(str(size)) + len(tail) != size:
        size = len(str(size)) + len(tail)
    return str(size).encode() + tail


def _block(name: bytes, kind: bytes, mode: int, size: int, target: bytes = b"") -> bytes:
    fields = b"".join(
        (
            name[:_NAME_BYTES].ljust(_NAME_BYTES, b"\0"),
            b"%07o\0" % mode,
            b"%07o\0%07o\0" % (0, 0),
            b"%011o\0%011o\0" % (size, MTIME),
            b" " * 8,
            kind,
            target[:_NAME_BYTES].ljust(_NAME_BYTES, b"\0"),
            b"ustar\00000",
        )
    ).ljust(BLOCK, b"\0")
    return fields[:148] + b"%06o\0 " % sum(fields) + fields[156:]
