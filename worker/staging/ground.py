"""The worker's folders on a host, and who may clear them away.

    <root>/templates/<key>/           sanitised workspaces, made once a host
    <root>/kits/<digest>/             sources of ours that a check sees, laid out once a host
    <root>/cells/<area>/<cell>/       one cell's home, workspace and output
    <root>/stage/<area>/<stage>/      an oracle's hidden files, while it runs

An area belongs to one process, which holds a lock on it as long as it lives: what lies in an area whose lock is free
was left by a dead one. Names are random and say nothing: a guest can read the host's side of its mounts.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from worker.session import Kit
from worker.staging.kits import ready_kit
from worker.trees.copying import Ownership, give
from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree

_CELLS = "cells"
_STAGE = "stage"
_TEMPLATES = "templates"
_KITS = "kits"
_DOOR = ".door"


@dataclass(frozen=True, slots=True)
class CellFolder:
    """One cell's place; a guest sees parts of it, never all."""

    path: Path
    owner: Ownership

    @property
    def workspace(self) -> Path:
        return self.path / "ws"

    @property
    def out(self) -> Path:
        return self.path / "out"

    def new_home(self) -> Path:
        """Make a fresh home: nothing passes from one sandboxed process to the next through it."""
        return self._new(f"home-{secrets.token_hex(4)}")

    def new_socket(self) -> Path:
        """Name a place, that does not exist yet, for a socket: in no guest's sight, and its name tells nothing."""
        return self.path / f"socket-{secrets.token_hex(4)}"

    def scratch(self) -> Path:
        """Name a place that does not exist yet."""
        return self.path / f"scratch-{secrets.token_hex(4)}"

    def _new(self, name: str) -> Path:
        folder = self.path / name
        folder.mkdir(mode=0o700)
        give(folder, self.owner)
        return folder

    def prepare(self) -> None:
        """Make the folders that every cell has."""
        self.path.mkdir(mode=0o700)
        give(self.path, self.owner)
        self._new("out")

    def remove(self) -> None:
        """Remove all of it; raise TreeError when something stays."""
        remove_tree(self.path)


class Ground:
    """A process's own areas below the work root. Made after the fork: the lock belongs to this process."""

    def __init__(self, root: Path) -> None:
        self.templates = root / _TEMPLATES
        self._root = root
        area = secrets.token_hex(8)
        self._cells, self._stage = root / _CELLS / area, root / _STAGE / area
        prepare_root(root)
        with _door(root):
            self._cells.mkdir(mode=0o711)
            self._stage.mkdir(mode=0o711)
            self._lock = _lock(self._cells)

    @property
    def drafts(self) -> Path:
        """Where half-made templates lie, so that a dead process's are cleared away with its cells."""
        return self._cells

    def cell(self, owner: Ownership) -> CellFolder:
        """Name a new cell folder for `owner`; `prepare` makes it."""
        return CellFolder(self._cells / secrets.token_hex(8), owner)

    def new_stage(self, group: Ownership) -> Path:
        """Make a folder for hidden files that the slot's group alone can read."""
        stage = self._stage / secrets.token_hex(8)
        stage.mkdir(mode=0o750)
        give(stage, Ownership(os.geteuid(), group.gid))
        return stage

    def kit(self, kit: Kit) -> Path:
        """Give the folder of `kit`, laying it out when this host has none."""
        return ready_kit(self._root / _KITS, self.drafts, kit)

    def close(self) -> None:
        """Give the areas up, at the process's end."""
        for area in (self._cells, self._stage):
            remove_tree(area)
        if self._lock is not None:
            os.close(self._lock)


def prepare_root(root: Path) -> None:
    """Make the work root's folders, so that a slot's user can pass through but not list them.

    A root that is there keeps its mode: it may be a folder that others use too.
    """
    if not root.exists():
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o711)
    for name, mode in ((_CELLS, 0o711), (_STAGE, 0o711), (_KITS, 0o711), (_TEMPLATES, 0o700)):
        (root / name).mkdir(exist_ok=True)
        (root / name).chmod(mode)


def clear_leftovers(root: Path) -> int:
    """Remove the areas of dead processes and return how many there were; a live process's are never touched."""
    prepare_root(root)
    cleared = 0
    with _door(root):
        for cells in tuple((root / _CELLS).iterdir()):
            lock = _lock(cells)
            if lock is None:
                continue
            try:
                remove_tree(root / _STAGE / cells.name)
                remove_tree(cells)
                cleared += 1
            except TreeError:
                continue  # looked at again at the next start
            finally:
                os.close(lock)
        for stage in tuple((root / _STAGE).iterdir()):
            if not (root / _CELLS / stage.name).exists():
                remove_tree(stage)
    return cleared


@contextmanager
def _door(root: Path) -> Iterator[None]:
    """Let one process at a time make or judge areas: an area must not be judged between its making and its lock."""
    descriptor = os.open(root / _DOOR, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lock(area: Path) -> int | None:
    descriptor = os.open(area, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
