"""File systems of a fixed size: each an ext4 in a sparse file of the host's, on a loop device, mounted for its guests.

The spawner holds the host's mounts as slaves, so what is mounted after its start reaches it only below a shared mount.
`top` is made one, of its own peer group: bound onto itself, made private, then shared. So nobody else's mounts change,
and an unmount reaches every copy that a namespace made later holds.
"""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.disk.images import Images, find_mkfs
from sandbox.disk.kernel import BIND, NOATIME, NODEV, NOSUID, PRIVATE, SHARED, looped, mount, mount_points, unmount
from sandbox.disk.meter import Meter, held
from sandbox.errors import SandboxError
from sandbox.spec import DiskSize, Exit, Sandbox, SandboxSpec, Sink

_OPTIONS = "noinit_itable,nobarrier"
"""Inode tables that are holes need no zeros, and no flush has to reach the host's disk: a crash loses it all anyway."""
_TRIAL = DiskSize(1 << 20, 16)


class Disk:
    """One mounted file system; guests get folders of it."""

    def __init__(self, disks: "Disks", place: Path, size: DiskSize, owner: tuple[int, int]) -> None:
        self.place = place
        self.size = size
        self._disks = disks
        self._owner = owner
        self._empty = held(place)

    def run(self, sandbox: Sandbox, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run as `Sandbox.run` does, and tell what was seen of this disk.

        `limits_touched` gets `disk` and `inodes` where there were none left; the peaks count all that is on the disk,
        whoever wrote it.
        """
        meter = Meter(self.place, self._empty)
        return meter.told(sandbox.run(spec, sink, meter.watching(stop)))

    def reached(self) -> tuple[str, ...]:
        """Name what is used up now: disk, inodes."""
        return held(self.place).reached

    def another(self) -> "Disk":
        """Make one like it. Raises SandboxError."""
        return self._disks.make(self.size, self._owner)

    def remove(self) -> None:
        """Unmount it, with all that is on it: once every guest that had a folder of it is dead. Raises OSError."""
        unmount(self.place)
        self.place.rmdir()


class Disks:
    """Makes disks below `top`, a folder of this process's own; see `find`."""

    def __init__(self, top: Path, images: Path) -> None:
        """Make `top` ready: before a run for which a disk below it is bound starts its spawner. Raises OSError."""
        self._top = share(top)
        self._images = Images(images)

    def make(self, size: DiskSize, owner: tuple[int, int]) -> Disk:
        """Make a disk whose root is `owner`'s. Raises SandboxError; SandboxRefusedError for an impossible size."""
        place = self._top / secrets.token_hex(8)
        try:
            place.mkdir(mode=0o700)
            try:
                with self._images.copy(size) as image, looped(image) as device:
                    mount(device, place, "ext4", NOSUID | NODEV | NOATIME, _OPTIONS)
            except BaseException:
                place.rmdir()
                raise
            os.chown(place, *owner)
            place.chmod(0o700)
            return Disk(self, place, size, owner)
        except OSError as error:
            raise SandboxError(f"no disk of {size.size_bytes} bytes could be made: {error}") from error

    def close(self) -> None:
        """Unmount all that is left, and `top` itself. Raises OSError."""
        clear(self._top)


@dataclass(frozen=True, slots=True)
class Found:
    """Disks, or the reason why there are none."""

    disks: Disks | None
    reason: str = ""


def find(top: Path, images: Path) -> Found:
    """Make ready below `top` what this host can do, shown by a trial disk; `images` keeps what is made once a size.

    Raises nothing: a host that can't do it has no cap on bytes and inodes.
    """
    if os.geteuid() != 0:
        return Found(None, "only root may mount a disk of a fixed size")
    if find_mkfs() is None:
        return Found(None, "mkfs.ext4 is missing: apt-get install e2fsprogs")
    try:
        disks = Disks(top, images)
        disks.make(_TRIAL, (0, 0)).remove()
    except (OSError, SandboxError) as error:
        with suppress(OSError):
            clear(top)
        return Found(None, f"{error}; it takes Linux 5.8, CAP_SYS_ADMIN and the host's loop devices")
    return Found(disks)


def share(top: Path) -> Path:
    """Make the folder `top` a shared mount of its own peer group; give its real path. Raises OSError."""
    top.mkdir(mode=0o711, exist_ok=True)
    place = top.resolve()
    mount(str(place), place, "", BIND)
    mount("", place, "", PRIVATE)
    mount("", place, "", SHARED)
    return place


def clear(top: Path) -> None:
    """Unmount all at and below `top` and remove it, which is nobody's any more. Raises OSError."""
    top = Path(os.path.realpath(top))
    if not top.is_dir():
        return
    for point in reversed(mount_points(top)):
        unmount(point)
    for place in top.iterdir():
        place.rmdir()
    top.rmdir()
