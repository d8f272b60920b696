"""The worker's folders on a host, and who may clear them away.

    <root>/templates/<key>/           sanitised workspaces, made once a host
    <root>/kits/<digest>/             sources of ours that a check sees, laid out once a host
    <root>/assets/<digest>/           folders that arms bring, laid out once a host
    <root>/dependencies/<digest>/     folders that tasks bring, laid out once a host
    <root>/builds/<lock>              who makes what a task's build makes, and how it failed
    <root>/cells/<area>/<cell>/       one cell's home, workspace and output
    <root>/stage/<area>/<stage>/      an oracle's hidden files, while it runs
    <root>/disks/<area>/<disk>/       a cell's disk, where its task asks for one: workspace, home, output are there then
    <root>/overlays/<area>/<cell>/    a workspace that is laid over its template
    <root>/images/                    empty disks of each size, made once a host

An area belongs to one process, which holds its folder in cells/ as long as it lives: it is made first and removed last,
so what nobody holds there, and what has no folder there, was left by a dead one. Names are random and say nothing: a
guest can read the host's side of its mounts.
"""

import os
import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import structlog

from farm.errors import FarmError
from farm.model import Digest
from farm.ports import BlobStore
from sandbox.disk import Disk, Found, Overlay, Overlays, clear, find
from sandbox.locks import abandoned, claim
from worker.session import Kit
from worker.staging.assets import ready_asset
from worker.staging.kits import ready_kit
from worker.trees.copying import Ownership, give
from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree

_log = structlog.get_logger()

Told: TypeAlias = Callable[[str | None], None]
"""Called once a dead process's area was removed, or with why it could not be."""
LastLook: TypeAlias = Callable[[Path], Told]
"""Looks at a folder in a dead process's area before that is removed; what it raises keeps the area for another time."""

_CELLS = "cells"
_STAGE = "stage"
_TEMPLATES = "templates"
_KITS = "kits"
_ASSETS = "assets"
_DEPENDENCIES = "dependencies"
_BUILDS = "builds"
_DISKS = "disks"
_OVERLAYS = "overlays"
_IMAGES = "images"
NOTE = "lease.json"


@dataclass(frozen=True, slots=True)
class CellFolder:
    """One cell's place; a guest sees parts of it, never all."""

    path: Path
    """What guests do not write: their streams, sockets, our scratch."""
    owner: Ownership
    disks: list[Disk] = field(default_factory=list)
    """The cell's own, if it has one, and a copy's."""
    overlays: list[Overlay] = field(default_factory=list)
    """The workspace, if it is one, and a copy."""

    @property
    def note(self) -> Path:
        """Where it stands whose folder this is: for whoever finds it when we are dead."""
        return self.path / NOTE

    @property
    def workspace(self) -> Path:
        return self.overlays[0].place if self.overlays else self._for_guests / "ws"

    @property
    def out(self) -> Path:
        return self._for_guests / "out"

    @property
    def _for_guests(self) -> Path:
        return self.disks[0].place if self.disks else self.path

    def new_home(self) -> Path:
        """Make a fresh home: nothing passes from one sandboxed process to the next through it."""
        return self._new(f"home-{secrets.token_hex(4)}")

    def new_socket(self) -> Path:
        """Name a place, that does not exist yet, for a socket: in no guest's sight, and its name tells nothing."""
        return self.path / f"socket-{secrets.token_hex(4)}"

    def scratch(self) -> Path:
        """Name a place that does not exist yet."""
        return self.path / f"scratch-{secrets.token_hex(4)}"

    def new_tmp(self) -> Path | None:
        """Make a temporary folder on the cell's disk, if it has one."""
        return self._new(f"tmp-{secrets.token_hex(4)}") if self.disks else None

    def new_copy(self) -> Path:
        """Name a place for a copy of the workspace: on another disk like the cell's own, if it has one."""
        if not self.disks:
            return self.scratch()
        self.disks.append(self.disks[0].another())
        return self.disks[-1].place / "ws"

    def lay(self, overlays: Overlays, template: Path) -> None:
        """Make the workspace an overlay over `template`, which must stay as it is until `remove`."""
        self.overlays.append(overlays.make(template, self._new_layers(), (self.owner.uid, self.owner.gid)))

    def lay_copy(self) -> Path:
        """Lay a copy over the workspace, which is an overlay: on another disk like the cell's own, if it has one."""
        if self.disks:
            self.disks.append(self.disks[0].another())
        self.overlays.append(self.overlays[0].over(self._new_layers()))
        return self.overlays[-1].place

    def remove_copy(self, copy: Path) -> None:
        """Remove a copy of the workspace, once its guests are dead."""
        if self.overlays and self.overlays[-1].place == copy:
            self.overlays[-1].remove()
            remove_tree(self.overlays.pop().layers)
        else:
            remove_tree(copy)

    def disk_of(self, place: Path) -> Disk | None:
        """Give the disk that `place`, or what changes there, lies on."""
        lies = next((overlay.layers for overlay in self.overlays if overlay.place == place), place)
        return next((disk for disk in self.disks if lies.is_relative_to(disk.place)), None)

    def _new_layers(self) -> Path:
        """Name a place for what guests change of an overlay: on the newest disk, if there is one."""
        return (self.disks[-1].place if self.disks else self.path) / f"layers-{secrets.token_hex(4)}"

    def _new(self, name: str) -> Path:
        folder = self._for_guests / name
        folder.mkdir(mode=0o700)
        give(folder, self.owner)
        return folder

    def prepare(self, disk: Disk | None = None) -> None:
        """Make the folders that every cell has; what its guests write lies on `disk`, if there is one."""
        if disk is not None:
            self.disks.append(disk)
        self.path.mkdir(mode=0o700)
        give(self.path, self.owner)
        self._new("out")

    def remove(self) -> None:
        """Remove all of it, once its guests are dead; raise TreeError or OSError when something stays."""
        while self.overlays:
            self.overlays[-1].remove()
            self.overlays.pop()
        while self.disks:
            self.disks[-1].remove()
            self.disks.pop()
        remove_tree(self.path)


class Ground:
    """A process's own areas below the work root. Made after the fork: the lock belongs to this process."""

    def __init__(self, root: Path) -> None:
        self.templates = templates_below(root)
        self.dependencies = dependencies_below(root)
        self.builds = root / _BUILDS
        self._root = root
        prepare_root(root)
        self._held = claim(root / _CELLS, lambda area: area.mkdir(mode=0o711))
        self._cells, self._stage = self._held.path, root / _STAGE / self._held.path.name
        self._disks, self._overlays = (root / name / self._held.path.name for name in (_DISKS, _OVERLAYS))
        try:
            self._stage.mkdir(mode=0o711)
        except OSError:
            self.close()
            raise

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

    def find_disks(self) -> Found:
        """Make ready for disks, once: the folder for them is this process's own, too."""
        return find(self._disks, self._root / _IMAGES)

    def find_overlays(self) -> Overlays:
        """Make ready for overlays, once: the folder for them is this process's own, too. Raises OSError."""
        return Overlays(self._overlays)

    def kit(self, kit: Kit) -> Path:
        """Give the folder of `kit`, laying it out when this host has none."""
        return ready_kit(self._root / _KITS, self.drafts, kit)

    def asset(self, digest: Digest, blobs: BlobStore) -> Path:
        """Give the folder of the asset `digest`, laying it out when this host has none."""
        return ready_asset(self._root / _ASSETS, self.drafts, digest, blobs)

    def close(self) -> None:
        """Give the areas up, at the process's end. Raises TreeError or OSError when something stays."""
        with closing(self._held):
            clear(self._overlays)  # what changes of them may lie on disks
            clear(self._disks)
            remove_tree(self._stage)
            remove_tree(self._cells)


def templates_below(root: Path) -> Path:
    """Name the folder of the host's templates."""
    return root / _TEMPLATES


def dependencies_below(root: Path) -> Path:
    """Name the folder of the host's dependencies."""
    return root / _DEPENDENCIES


def prepare_root(root: Path) -> None:
    """Make the work root's folders, so that a slot's user can pass through but not list them.

    A root that is there keeps its mode: it may be a folder that others use too.
    """
    if not root.exists():
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o711)
    for name, mode in (
        (_CELLS, 0o711),
        (_STAGE, 0o711),
        (_KITS, 0o711),
        (_ASSETS, 0o711),
        (_DEPENDENCIES, 0o711),
        (_BUILDS, 0o700),
        (_DISKS, 0o711),
        (_OVERLAYS, 0o711),
        (_TEMPLATES, 0o700),
    ):
        (root / name).mkdir(exist_ok=True)
        (root / name).chmod(mode)


def clear_leftovers(root: Path, look: LastLook) -> int:
    """Remove the areas of dead processes and return how many there were; a living process's are never touched."""
    prepare_root(root)
    stages, mounts, cleared = root / _STAGE, (root / _OVERLAYS, root / _DISKS), 0
    for cells in abandoned(root / _CELLS):
        # first: whatever becomes of the rest, its devices are free
        is_unmounted = False not in [_try_to_clear(mounted / cells.name) for mounted in mounts]
        try:
            tells = [look(folder) for folder in sorted(cells.iterdir())]
        except (FarmError, OSError) as error:
            _log.warning("leftovers.kept", area=str(cells), problem=str(error))
            continue
        is_gone = is_unmounted and _try_to_remove(stages / cells.name) and _try_to_remove(cells)
        for tell in tells:
            tell(None if is_gone else f"{cells} could not be removed; remove it by hand")
        cleared += is_gone
    for stage in tuple(stages.iterdir()):
        if not (root / _CELLS / stage.name).exists():
            _try_to_remove(stage)
    for mounted in (area for folder in mounts for area in tuple(folder.iterdir())):
        if not (root / _CELLS / mounted.name).exists():
            _try_to_clear(mounted)
    return cleared


def _try_to_clear(mounted: Path) -> bool:
    try:
        clear(mounted)
    except OSError:
        return False  # looked at again at the next start
    return True


def _try_to_remove(folder: Path) -> bool:
    try:
        remove_tree(folder)
    except TreeError:
        return False  # looked at again at the next start
    return True
