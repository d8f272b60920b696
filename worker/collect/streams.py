"""A guest's raw output: in a file of the cell's folder before a parser sees it, so that it outlives its worker."""

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from farm.model import MIB
from sandbox.spec import Stream
from worker.collect.keeper import Keeper
from worker.trees.opening import Beneath

_MEDIA = {Stream.STDOUT: ("events", "application/octet-stream"), Stream.STDERR: ("stderr", "text/plain")}
_FILE = re.compile(r"([a-z0-9][a-z0-9-]{0,31})\.(stdout|stderr)")
_MOST_LEFT_BYTES = 64 * MIB
GOVERNOR_LOG = "governor.jsonl"
"""What a governor noted, stop by stop: in the cell's folder, and as an artifact."""
GOVERNOR_MEDIA = "application/jsonl"


class RawStreams:
    """Appends both outputs to files below `folder`, then hands each chunk on. The sandbox bounds them."""

    def __init__(self, folder: Path, name: str, then: Callable[[Stream, bytes], None]) -> None:
        self._name = name
        self._paths = {stream: folder / f"{name}.{stream}" for stream in Stream}
        self._then = then
        self._open: dict[Stream, int] = {}

    def sink(self, stream: Stream, chunk: bytes) -> None:
        """Take a chunk as it comes."""
        if stream not in self._open:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._open[stream] = os.open(self._paths[stream], flags, 0o600)
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(self._open[stream], rest) :]
        self._then(stream, chunk)

    def keep(self, keeper: Keeper, cut: tuple[Stream, ...] = ()) -> None:
        """Keep what was written as the session's artifacts; of those in `cut` it is only the beginning."""
        for stream, path in self._paths.items():
            if path.exists():
                _keep(keeper, _Said(self._name, stream, path.read_bytes(), stream in cut))

    def end_of_stdout(self, most_bytes: int) -> bytes:
        """Read the end of standard output where it is all that was said: empty where standard error has words."""
        out, error = (self._paths[stream] for stream in (Stream.STDOUT, Stream.STDERR))
        if error.exists() or not out.exists():
            return b""
        with out.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - most_bytes, 0))
            return file.read(most_bytes)

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()


def keep_left_streams(folder: Path, keeper: Keeper) -> None:
    """Keep what sessions had said whose worker died, 64 MiB at most, from the folder of its cell. Raises OSError."""
    room = _MOST_LEFT_BYTES
    with Beneath(folder) as left:
        for path in sorted(folder.iterdir()):
            named = _FILE.fullmatch(path.name)
            if named is None and path.name != GOVERNOR_LOG:
                continue
            try:
                descriptor = left.file(path.name)
            except OSError:  # a link, or nothing that a session of ours wrote
                continue
            with os.fdopen(descriptor, "rb") as stream:
                status = os.fstat(stream.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                    continue
                body = stream.read(room)
            room -= len(body)
            is_cut = len(body) < status.st_size
            if named is not None:
                _keep(keeper, _Said(named[1], Stream(named[2]), body, is_cut))
            elif body:
                keeper.keep(GOVERNOR_LOG, GOVERNOR_MEDIA, body, truncated=is_cut)


@dataclass(frozen=True, slots=True)
class _Said:
    session: str
    stream: Stream
    body: bytes
    is_cut: bool


def _keep(keeper: Keeper, said: _Said) -> None:
    role, media_type = _MEDIA[said.stream]
    if said.body:
        keeper.keep(f"session.{said.session}.{role}", media_type, said.body, truncated=said.is_cut)
