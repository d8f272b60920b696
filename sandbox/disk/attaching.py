"""The kernel's newer calls for mounts, which make one before they put it anywhere (Linux 5.2; ids mapped: 5.12)."""

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sandbox.disk.kernel import NODEV, NOSUID

_OPEN_TREE, _MOVE_MOUNT, _FSOPEN, _FSCONFIG, _FSMOUNT, _MOUNT_SETATTR = 428, 429, 430, 431, 432, 442
"""The same on every architecture but Alpha."""
_HERE = -100
_CLONE = 1
_CLOSE_ON_EXEC = os.O_CLOEXEC
_EMPTY_PATH = 0x1000
_FROM_DESCRIPTOR = 4
_FS_CLOSE_ON_EXEC = 1
_FLAG, _TEXT, _CREATE = 0, 1, 6
_READ_ONLY: Final = 1
_IDS_MAPPED: Final = 0x100000

_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("users", ctypes.c_uint64),
    )


@contextmanager
def read_only_tree(path: Path, users: int | None) -> Iterator[int]:
    """Give a read-only mount of the folder `path`, which stands nowhere; its ids mapped as `users` says, if given."""
    tree = _call(_OPEN_TREE, _HERE, os.fsencode(path), _CLONE | _CLOSE_ON_EXEC)
    try:
        wanted = _READ_ONLY if users is None else _READ_ONLY | _IDS_MAPPED
        attributes = _Attributes(wanted, 0, 0, users or 0)
        _call(_MOUNT_SETATTR, tree, b"", _EMPTY_PATH, ctypes.byref(attributes), ctypes.sizeof(attributes))
        yield tree
    finally:
        os.close(tree)


@contextmanager
def new_mount(kind: str, texts: Mapping[str, str], flags: tuple[str, ...]) -> Iterator[int]:
    """Give a new mount of a file system, without set-uid programs and devices, which stands nowhere."""
    context = _call(_FSOPEN, kind.encode(), _FS_CLOSE_ON_EXEC)
    try:
        for name, text in texts.items():
            _call(_FSCONFIG, context, _TEXT, name.encode(), text.encode(), 0)
        for name in flags:
            _call(_FSCONFIG, context, _FLAG, name.encode(), None, 0)
        _call(_FSCONFIG, context, _CREATE, None, None, 0)
        made = _call(_FSMOUNT, context, _FS_CLOSE_ON_EXEC, NOSUID | NODEV)
    finally:
        os.close(context)
    try:
        yield made
    finally:
        os.close(made)


def attach(mount: int, place: Path) -> None:
    """Put a mount that stands nowhere at the folder `place`."""
    _call(_MOVE_MOUNT, mount, b"", _HERE, os.fsencode(place), _FROM_DESCRIPTOR)


def _call(number: int, *words: object) -> int:
    answer = int(_syscall(number, *words))
    if answer < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return answer
