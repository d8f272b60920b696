"""Locks that say who lives: what is held belongs to a living process, what nobody holds was left by a dead one.

The kernel lets a lock go with its holder, however that ends. Nobody waits here: what somebody else has is left to him.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

_MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class Held:
    """A file or folder whose lock is ours until `close`, or the end of this process and of those that it forks."""

    path: Path
    descriptor: int

    def close(self) -> None:
        """Let go."""
        os.close(self.descriptor)


def try_lock(path: Path) -> Held | None:
    """Take the lock of `path`; None when somebody else has it, or when it is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    held = Held(path, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(path.lstat(), os.fstat(descriptor)):  # its last holder may have removed it meanwhile
            return held
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        held.close()
        raise
    held.close()
    return None


def claim(folder: Path, make: Callable[[Path], object]) -> Held:
    """Make an entry of a new random name in `folder` and hold it. Raises SandboxError, and whatever `make` raises."""
    (held,) = claim_in_each((folder,), make, Path.rmdir)
    return held


def claim_in_each(
    folders: tuple[Path, ...], make: Callable[[Path], object], remove: Callable[[Path], object]
) -> tuple[Held, ...]:
    """Make an entry of one new random name in each of `folders`, and hold them all; or in none.

    Whoever asks for `abandoned` in the moment between takes one for a dead one's: then it is his, and we make others.
    """
    for _ in range(_MOST_TRIES):
        name = secrets.token_hex(8)
        held = _try_to_claim([folder / name for folder in folders], make, remove)
        if held:
            return held
    raise SandboxError(
        f"{folders[0]}: {_MOST_TRIES} new entries were taken by others; look for who clears it all the time"
    )


def abandoned(folder: Path) -> Iterator[Path]:
    """Give the folders in `folder` that nobody holds, each held by us until the next is asked for."""
    for entry in tuple(folder.iterdir()):
        held = try_lock(entry) if entry.is_dir() else None
        if held is not None:
            with closing(held):
                yield entry


def _try_to_claim(
    paths: list[Path], make: Callable[[Path], object], remove: Callable[[Path], object]
) -> tuple[Held, ...]:
    claimed: list[Held] = []
    with ExitStack() as undo:
        for path in paths:
            make(path)
            held = try_lock(path)
            if held is None:
                return ()
            undo.enter_context(closing(held))
            undo.callback(remove, path)
            claimed.append(held)
        undo.pop_all()
    return tuple(claimed)
