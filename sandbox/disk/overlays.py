"""Overlays: a folder that many read, which each of them may change, and none of the others sees it.

The lower folder is ours and is never written: a guest's changes land in an upper folder of its own. It is mounted with
its ids mapped, so that it belongs to the slot's user there, as the upper one does. What a guest reads in its list of
mounts are numbers of descriptors of ours, closed long ago. Like disks, overlays stand below a shared mount.
"""

import os
import secrets
from contextlib import ExitStack
from pathlib import Path

from sandbox.disk.attaching import attach, new_mount, read_only_tree
from sandbox.disk.disks import clear, share
from sandbox.disk.kernel import detach, unmount
from sandbox.disk.users import mapped_users
from sandbox.errors import SandboxError

_TEXTS = {"redirect_dir": "on", "index": "off", "metacopy": "off", "xino": "on"}
"""Folders of the lower one can be renamed, as anywhere; numbers of files are unique, and stay theirs."""
_FLAGS = ("volatile",)
"""Nothing of it outlives us: no sync of the file system below, which may be the host's own."""


class Overlay:
    """One mounted overlay: guests get `place`; what they change lies in `layers`, which whoever named it removes."""

    def __init__(self, overlays: "Overlays", place: Path, layers: Path, owner: tuple[int, int]) -> None:
        self.place = place
        self.layers = layers
        self._overlays = overlays
        self._owner = owner

    def over(self, layers: Path) -> "Overlay":
        """Lay another one over it, while no guest of its own lives. Raises SandboxError."""
        return self._overlays.make(self.place, layers, self._owner)

    def remove(self) -> None:
        """Unmount it: once every guest that had it is dead. Raises OSError."""
        unmount(self.place)
        self.place.rmdir()


class Overlays:
    """Makes overlays below `top`, a folder of this process's own; only root can."""

    def __init__(self, top: Path) -> None:
        """Make `top` ready: before a run for which an overlay is bound starts its spawner. Raises OSError."""
        self._top = share(top)
        self._users: dict[tuple[int, int], int] = {}

    def make(self, lower: Path, layers: Path, owner: tuple[int, int]) -> Overlay:
        """Lay a new folder `layers` over `lower`, which is ours, and nobody changes it meanwhile. Raises SandboxError.

        `lower` may be an overlay of the same owner's.
        """
        try:
            upper, work = layers / "upper", layers / "work"
            layers.mkdir(mode=0o700)
            upper.mkdir(mode=0o755)
            work.mkdir(mode=0o700)
            os.chown(upper, *owner)
            place = self._top / secrets.token_hex(8)
            place.mkdir(mode=0o700)
            try:
                self._mount(lower, (upper, work), place, owner)
            except BaseException:
                place.rmdir()
                raise
        except OSError as error:
            raise SandboxError(f"no overlay could be mounted: {error}") from error
        return Overlay(self, place, layers, owner)

    def close(self) -> None:
        """Unmount all that is left, and `top` itself. Raises OSError."""
        for users in self._users.values():
            os.close(users)
        self._users.clear()
        clear(self._top)

    def _mount(self, lower: Path, ours: tuple[Path, Path], place: Path, owner: tuple[int, int]) -> None:
        is_mapped = (lower.stat().st_uid, lower.stat().st_gid) != owner
        with ExitStack() as opened:
            below = opened.enter_context(read_only_tree(lower, self._mapped(owner) if is_mapped else None))
            attach(below, place)  # until Linux 6.15 a lower folder has to stand somewhere when it is taken
            try:
                folders = [below]
                for folder in ours:
                    folders.append(os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
                    opened.callback(os.close, folders[-1])
                names = [f"/proc/self/fd/{folder}" for folder in folders]
                texts = dict(zip(("lowerdir", "upperdir", "workdir"), names, strict=True)) | _TEXTS
                made = opened.enter_context(new_mount("overlay", texts, _FLAGS))
            finally:
                detach(place)
            attach(made, place)

    def _mapped(self, owner: tuple[int, int]) -> int:
        if owner not in self._users:
            self._users[owner] = mapped_users(owner)
        return self._users[owner]
