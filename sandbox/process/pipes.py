"""Descriptors for what is started: each end is closed with the stack of whose it is."""

import fcntl
import os
from contextlib import ExitStack
from dataclasses import dataclass

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


@dataclass(frozen=True, slots=True)
class Pipe:
    """We read what they write."""

    read: int
    write: int


def pipe(ours: ExitStack, theirs: ExitStack) -> Pipe:
    """Make a pipe."""
    read, write = os.pipe2(os.O_CLOEXEC)
    ours.callback(os.close, read)
    theirs.callback(os.close, write)
    return Pipe(read, write)


def owned_pipe(ours: ExitStack, theirs: ExitStack, owner: tuple[int, int]) -> Pipe:
    """Make a pipe that the guest may open as /dev/stdout, which the kernel checks against the pipe's owner."""
    made = pipe(ours, theirs)
    os.fchown(made.write, *owner)
    return made


def memory(theirs: ExitStack, name: str, content: bytes) -> int:
    """Make a sealed file in memory, read from its start, that nobody can change or fill."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    theirs.callback(os.close, fd)
    with os.fdopen(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd
