"""The kernel's calls for mounts and loop devices, which Python's own library has not."""

import ctypes
import errno
import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NOSUID: Final = 2
NODEV: Final = 4
NOATIME: Final = 1024
BIND: Final = 4096
PRIVATE: Final = 1 << 18
SHARED: Final = 1 << 20
_DETACH = 2
_NOFOLLOW = 8
_LOOP_CTL_GET_FREE = 0x4C82
_LOOP_CONFIGURE = 0x4C0A
_AUTOCLEAR = 4
_DIRECT_IO = 16
_LOOP_INFO = "=5Q4I64s64s32s2Q"
_LOOP_CONFIG = f"=2I{struct.calcsize(_LOOP_INFO)}s64x"
_TRIES = 64
_BUSY_S = 1.0
_AGAIN_S = 0.002

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: Path, kind: str, flags: int, options: str = "") -> None:
    """Mount. Raises OSError naming the target."""
    words = (os.fsencode(source), os.fsencode(target), kind.encode(), flags, options.encode())
    _ensure(_libc.mount(*words), target)


def unmount(target: Path) -> None:
    """Unmount; one that somebody of the host's still looks into is detached, and goes when he leaves it."""
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            _ensure(_libc.umount2(os.fsencode(target), _NOFOLLOW), target)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            if time.monotonic() > deadline:
                break
            time.sleep(_AGAIN_S)
        else:
            return
    detach(target)


def detach(target: Path) -> None:
    """Take a mount out of sight; it goes when nobody looks into it any more. Raises OSError naming the target."""
    _ensure(_libc.umount2(os.fsencode(target), _NOFOLLOW | _DETACH), target)


def mount_points(top: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> list[Path]:
    """Give what is mounted at or below `top`, in the order in which it was mounted."""
    points = (Path(_plain(line.split()[4])) for line in mountinfo.read_text().splitlines())
    return [point for point in points if point.is_relative_to(top)]


@contextmanager
def looped(image: int) -> Iterator[str]:
    """Give the name of a loop device over an open file, which frees itself: with the block, or when it is unmounted.

    Its input and output pass by the page cache, so that a guest's file is in memory, and counted there, only once.
    """
    control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    try:
        device = _attach(control, image)
    finally:
        os.close(control)
    try:
        yield device.name
    finally:
        os.close(device.fd)


class _Device:
    def __init__(self, number: int) -> None:
        self.name = f"/dev/loop{number}"
        self.fd = os.open(self.name, os.O_RDWR | os.O_CLOEXEC)


def _attach(control: int, image: int) -> _Device:
    info = struct.pack(_LOOP_INFO, *[0] * 8, _AUTOCLEAR | _DIRECT_IO, b"cell", b"", b"", 0, 0)
    config = struct.pack(_LOOP_CONFIG, image, 0, info)
    for _ in range(_TRIES):
        device = _Device(fcntl.ioctl(control, _LOOP_CTL_GET_FREE))
        try:
            fcntl.ioctl(device.fd, _LOOP_CONFIGURE, config)
        except OSError as error:
            os.close(device.fd)
            if error.errno != errno.EBUSY:  # somebody else was sooner
                raise
        else:
            return device
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), "/dev/loop-control")


def _plain(escaped: str) -> str:
    """Undo the octal escapes of white space and backslashes."""
    head, *parts = escaped.split("\\")
    return head + "".join(chr(int(part[:3], 8)) + part[3:] for part in parts)


def _ensure(answer: int, target: Path) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))
