"""Open what lies below a folder, and nothing else: no link, no mount, no `..` on the way, whoever swaps what meanwhile.

The kernel holds this in one call, openat2. Where it lacks the call (Linux before 5.6, or a container whose filter hides
it) every step is opened by itself without following a link. There is no third way.
"""

import ctypes
import errno
import os
import stat
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

_OPENAT2 = 437  # on every architecture but Alpha
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
_RESOLVE = _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS | _NO_XDEV
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_LINK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_TRIES = 64
"""The kernel answers EAGAIN when a name moved while it looked; one that moves on and on is given up."""

_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Beneath:
    """An opened folder and what lies below it, by relative path. A FIFO never blocks, a device is never a terminal."""

    def __init__(self, root: Path | int) -> None:
        """Open `root`, which is ours to name; of a descriptor that is given, only what lies below is opened."""
        self._owned = root if isinstance(root, int) else os.open(root, _READ | os.O_DIRECTORY)
        self._closes = not isinstance(root, int)
        self._open = open_by_kernel if has_openat2() else open_by_steps

    @property
    def descriptor(self) -> int:
        return self._owned

    def file(self, path: str) -> int:
        """Open for reading whatever is at `path`: look at it with fstat before it is read."""
        return self._open(self._owned, path, _READ)

    def folder(self, path: str) -> int:
        """Open the folder at `path`; "" is the root itself."""
        return self._open(self._owned, path or ".", _READ | os.O_DIRECTORY)

    def link(self, path: str) -> bytes:
        """Read where the link at `path` points."""
        descriptor = self._open(self._owned, path, _LINK)
        try:
            return os.readlink(b"", dir_fd=descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        if self._closes:
            os.close(self._owned)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@cache
def has_openat2() -> bool:
    """Say whether the kernel has the call and nothing hides it."""
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(open_by_kernel(root, ".", os.O_PATH | os.O_CLOEXEC))
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EPERM}:
            return False
        raise
    finally:
        os.close(root)
    return True


def open_by_kernel(folder: int, path: str, flags: int) -> int:
    """Open by openat2. Raises OSError: ELOOP for a link on the way, EXDEV for a mount or a way out, and so on."""
    how = _How(flags, 0, _RESOLVE)
    name = os.fsencode(path)
    if b"\0" in name:
        raise OSError(errno.EINVAL, "a name holds a NUL", path)
    number = errno.EAGAIN
    for _ in range(_MOST_TRIES):
        opened = _syscall(_OPENAT2, folder, ctypes.c_char_p(name), ctypes.byref(how), ctypes.c_size_t(24))
        if opened >= 0:
            return int(opened)
        number = ctypes.get_errno()
        if number not in {errno.EAGAIN, errno.EINTR}:
            break
    raise _error(number, path)


def open_by_steps(folder: int, path: str, flags: int) -> int:
    """Open part by part, as the kernel would in one call; raises the same errors."""
    parts = path.split("/")
    if ".." in parts or not path or path.startswith("/"):
        raise _error(errno.EXDEV, path)
    device = os.fstat(folder).st_dev
    at = os.dup(folder)
    for place, part in enumerate(parts, start=1):
        try:
            below = _open_step(at, part, flags if place == len(parts) else os.O_PATH | os.O_DIRECTORY, path)
        finally:
            os.close(at)
        at = below
        if os.fstat(at).st_dev != device:
            os.close(at)
            raise _error(errno.EXDEV, path)
    return at


def _open_step(folder: int, part: str, flags: int, path: str) -> int:
    try:
        return os.open(part, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except NotADirectoryError as error:
        is_link = stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode)
        raise _error(errno.ELOOP if is_link else errno.ENOTDIR, path) from error
    except OSError as error:
        raise _error(error.errno or errno.EIO, path) from error


def _error(number: int, path: str) -> OSError:
    reason = "the kernel has no openat2" if number == errno.ENOSYS else os.strerror(number)
    return OSError(number, reason, path)
