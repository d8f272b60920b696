"""Workspaces for cells, each of its own, from a template that nobody may change, by the fastest way that is safe here.

The ways, fastest first: an overlay over the template, whose changes lie with the cell; a copy whose bytes are the
template's until somebody writes (the file system says whether it can); a plain copy. Whether overlays are to be had is
tried once, with a guest. A template of few files is copied: an overlay would cost more.
"""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from farm.model import MIB
from sandbox.disk import Disk, Overlays
from sandbox.errors import SandboxError, SandboxUnhealthyError
from worker.staging.copy_trial import Trial
from worker.staging.ground import CellFolder
from worker.staging.templates import Template
from worker.trees.copying import copy_tree
from worker.trees.scan import Check, is_plain, listing

_log = structlog.get_logger()

FEW = 64
_FEW_BYTES = MIB


@dataclass(frozen=True, slots=True)
class _Offer:
    """Overlays, or the reason why there are none."""

    overlays: Overlays | None
    reason: str = ""


class Copies:
    """Makes the workspaces of one slot; `renew` lets its sandbox see what is mounted for the first overlay."""

    def __init__(self, find: Callable[[], Overlays], renew: Callable[[], None], trial: Trial) -> None:
        self._find = find
        self._renew = renew
        self._trial = trial
        self._found: _Offer | None = None
        self._tried: dict[bool, _Offer] = {}

    def make(self, template: Template, folder: CellFolder) -> str:
        """Make the folder's workspace, and say for the evidence by which way.

        Raises OSError when there is no room: on a disk of the cell's own, for all of the template, whatever the way.
        """
        if len(template.listing) <= FEW and template.size_bytes <= _FEW_BYTES:
            offer = _Offer(None, "the template is small")
        else:
            offer = self._offered(folder)
        if offer.overlays is not None:
            _ensure_room(template, folder.disks[0] if folder.disks else None)
            folder.lay(offer.overlays, template.path)
            return f"overlay: what changes lies on {'the disk of the cell' if folder.disks else 'the work root'}"
        if copy_tree(template.path, template.listing, folder.workspace, folder.owner):
            return "reflink: bytes are shared until somebody writes"
        return f"copy: {offer.reason}"

    def _offered(self, folder: CellFolder) -> _Offer:
        """Find out, once for cells with a disk of their own and once for others, whether they get overlays."""
        has_disk = bool(folder.disks)
        if has_disk not in self._tried:
            self._tried[has_disk] = self._try(folder)
            _log.info("copies.tried", on_disk=has_disk, problem=self._tried[has_disk].reason or None)
        return self._tried[has_disk]

    def _try(self, folder: CellFolder) -> _Offer:
        if self._found is None:
            self._found = self._look()
        if self._found.overlays is None:
            return self._found
        try:
            problem = self._problem(self._found.overlays, folder)
        except SandboxUnhealthyError:
            raise
        except (SandboxError, OSError) as error:
            problem = str(error)
        return self._found if problem is None else _Offer(None, f"an overlay was tried, and {problem}")

    def _look(self) -> _Offer:
        if os.geteuid() != 0:
            return _Offer(None, "only root may mount an overlay")
        try:
            overlays = self._find()
        except OSError as error:
            return _Offer(None, f"no overlay can be mounted: {error}")
        self._renew()
        return _Offer(overlays)

    def _problem(self, overlays: Overlays, folder: CellFolder) -> str | None:
        if not folder.disks:
            return self._trial.problem(overlays, folder.path, folder.scratch())
        disk = folder.disks[0].another()
        try:
            return self._trial.problem(overlays, disk.place, folder.scratch())
        finally:
            disk.remove()


def copy_again(folder: CellFolder, check: Check) -> Path:
    """Copy the folder's workspace, whose guests are dead, for a check that may write; `remove_copy` takes it away.

    Raises TreeLimitError for a workspace beyond our bounds, OSError when there is no room.
    """
    found = listing(folder.workspace, check)
    if folder.overlays and all(is_plain(one) for one in found):
        return folder.lay_copy()
    copy = folder.new_copy()
    copy_tree(folder.workspace, found, copy, folder.owner, check)
    return copy


def _ensure_room(template: Template, disk: Disk | None) -> None:
    """Refuse what a copy would have no room for: a task's limit says the same on every host."""
    if disk is not None and (template.size_bytes > disk.size.size_bytes or len(template.listing) > disk.size.inodes):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
