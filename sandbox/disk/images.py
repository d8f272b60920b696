"""Empty file systems, made once for each size and kept as sparse files; a disk starts as a nameless copy of one.

A copy takes half a millisecond, mkfs ten; and what has no name is gone, with all that was written to it, when its loop
device lets go of it.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.errors import SandboxRefusedError, SandboxUnavailableError
from sandbox.spec import DiskSize

_FORMAT = 1
"""Raised when the same size is made differently."""
_BLOCK = 4096
_INODE = 256
_TAKEN = 11
"""Inodes that ext4 has for itself."""
_LEAST_BYTES = 1 << 20
_GROUP_BYTES = 128 << 20
_GROUP_OVERHEAD = 64 << 10
_MOST_HELD_BACK = 16 << 20
_EXTENDED = "lazy_itable_init=1,nodiscard,packed_meta_blocks=1,num_backup_sb=0"
_PLACES = "/usr/sbin:/sbin:/usr/bin:/bin"
_MKFS_S = 60.0


def find_mkfs() -> str | None:
    """Find mkfs.ext4, which is often in no ordinary user's path."""
    return shutil.which("mkfs.ext4", path=_PLACES)


class Images:
    """The premade images below `folder`; processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def copy(self, size: DiskSize) -> Iterator[int]:
        """Open a new copy for the length of the block. Raises OSError, SandboxRefusedError, SandboxUnavailableError."""
        made = self._ready(size)
        try:
            copied = _nameless(self._folder, os.fstat(made).st_size)
            try:
                for start, end in _filled(made):
                    _copy_range(made, copied, start, end)
                yield copied
            finally:
                os.close(copied)
        finally:
            os.close(made)

    def _ready(self, size: DiskSize) -> int:
        path = self._folder / f"{size.size_bytes}-{size.inodes}-{_FORMAT}.ext4"
        try:
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            self._make(path, size)
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def _make(self, path: Path, size: DiskSize) -> None:
        """Make the image without a name, so that a half-made one is never taken; whoever is first gives it its name."""
        _refuse(size)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        image = _nameless(self._folder, _image_bytes(size))
        try:
            _format(image, size)
            with suppress(FileExistsError):
                # Python follows the link only where it is told a folder too, which an absolute path has no use for.
                os.link(f"/proc/self/fd/{image}", path, src_dir_fd=image, follow_symlinks=True)
        finally:
            os.close(image)


def _refuse(size: DiskSize) -> None:
    if size.size_bytes < _LEAST_BYTES:
        raise SandboxRefusedError(f"a disk of {size.size_bytes} bytes is too small: the least is {_LEAST_BYTES}")
    if not 0 < size.inodes <= size.size_bytes // _BLOCK:
        raise SandboxRefusedError(
            f"a disk of {size.size_bytes} bytes can't have {size.inodes} inodes: "
            f"from 1 to {size.size_bytes // _BLOCK}, one for each {_BLOCK} bytes"
        )


def _image_bytes(size: DiskSize) -> int:
    """Give the size of a file system with room for `size`, its inodes, its bitmaps and what ext4 holds back."""
    content = size.size_bytes + (size.inodes + _TAKEN) * _INODE
    held_back = min(content // 45, _MOST_HELD_BACK)
    groups = content // _GROUP_BYTES + 1
    return -(-(content + held_back + groups * _GROUP_OVERHEAD) // _BLOCK) * _BLOCK


def _format(image: int, size: DiskSize) -> None:
    program = find_mkfs()
    if program is None:
        raise SandboxUnavailableError("mkfs.ext4 is missing: apt-get install e2fsprogs")
    options = ("-q", "-F", "-b", str(_BLOCK), "-I", str(_INODE), "-m", "0", "-N", str(size.inodes + _TAKEN))
    features = ("-O", "^has_journal,^resize_inode,sparse_super2", "-E", _EXTENDED)
    try:
        done = subprocess.run(  # noqa: S603 (the system's own program)
            (program, *options, *features, f"/proc/self/fd/{image}"),
            env={"PATH": _PLACES, "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_MKFS_S,
            check=False,
            pass_fds=(image,),
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxUnavailableError(
            f"{program} is not done after {_MKFS_S:.0f} s: look at this host's disk"
        ) from error
    if done.returncode != 0:
        said = " ".join(done.stdout.decode(errors="replace").split())[-300:]
        raise SandboxUnavailableError(f"{program} made no disk of {size.size_bytes} bytes: {said}")


def _nameless(folder: Path, size: int) -> int:
    fd = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    os.ftruncate(fd, size)
    return fd


def _filled(fd: int) -> Iterator[tuple[int, int]]:
    """Give where data begins and ends in a sparse file."""
    at = 0
    while True:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:  # no more of it
            return
        at = os.lseek(fd, start, os.SEEK_HOLE)
        yield start, at


def _copy_range(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        start += os.copy_file_range(source, target, end - start, start, start)
