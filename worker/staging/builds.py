"""What builds had made: their locks on this host, what failed there, and what no output may hold."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from farm.model import Digest
from sandbox.locks import try_lock

_WILD = re.compile(r"\*|\?|\[[^\]]*\]")
_LEAST_MARKER = 3


@dataclass(frozen=True, slots=True)
class BuildSite:
    """One build on this host, while it is ours alone."""

    note: Path

    def failure(self, sweep: str) -> str | None:
        """Say how the build failed here in that run of a sweep; None: it did not."""
        try:
            told = json.loads(self.note.read_bytes())
        except (OSError, ValueError):  # nothing, or no whole note
            return None
        return told["detail"] if isinstance(told, dict) and told.get("sweep") == sweep else None

    def fail(self, sweep: str, detail: str) -> None:
        """Note it for the sweep's other cells on this host."""
        self.note.write_text(json.dumps({"sweep": sweep, "detail": detail}))


@contextmanager
def build_site(folder: Path, lock: Digest, wait: Callable[[], None]) -> Iterator[BuildSite]:
    """Have a build for ourselves on this host; `wait` is called again and again while another slot has it."""
    note = folder / lock
    note.touch(mode=0o600)
    while (held := try_lock(note)) is None:
        wait()
    with closing(held):
        yield BuildSite(note)


def hidden_names(globs: Iterable[str]) -> tuple[str, ...]:
    """Give what is literal in globs of hidden files: up to the first wild character, else the longest part."""
    return tuple(name for name in map(_name, globs) if len(name) >= _LEAST_MARKER)


def _name(glob: str) -> str:
    plain = "/".join(part for part in glob.split("/") if part not in {"", "."})  # as matching has it
    pieces = [piece.removeprefix("/") for piece in _WILD.split(plain)]
    return pieces[0] if len(pieces[0]) >= _LEAST_MARKER else max(pieces, key=len)
