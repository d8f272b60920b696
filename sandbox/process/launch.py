"""Starting bubblewrap: none of its options on its command line, nothing inherited but what is named."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from sandbox.errors import SandboxError
from sandbox.process.reports import Report, Status
from sandbox.process.tree import Tree

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


@dataclass(frozen=True, slots=True)
class Inherited:
    """The numbers of the descriptors that bubblewrap gets besides 0, 1, 2 and its options."""

    status: int
    report: int
    seccomp: int | None


@dataclass(frozen=True, slots=True)
class Words:
    """What bubblewrap is told: options, in memory, and the command, on its command line as on the guest's own."""

    options: tuple[str, ...]
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """What to execute, as whom and with what."""

    program: tuple[str, ...]
    """Whatever gives root up, then bubblewrap's absolute path."""
    words: Callable[[Inherited], Words]
    env: dict[str, str]
    stdin: bytes
    seccomp: bytes | None
    owner: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Running:
    """A started tree and the reading ends of its outputs."""

    tree: Tree
    stdout: int
    stderr: int

    def close(self) -> None:
        """Let go of the descriptors, once the tree has been ended."""
        self.tree.close()
        os.close(self.stdout)
        os.close(self.stderr)


def launch(order: Launch) -> Running:
    """Start `order`; the caller ends and closes the tree, and closes the outputs. Raises SandboxError."""
    with ExitStack() as ours, ExitStack() as theirs:
        pipes = [_pipe(ours, theirs) for _ in range(4)]
        stdout, stderr, status, report = pipes
        for pipe in (stdout, stderr):
            # So that the guest may open /dev/stdout, which the kernel checks against the pipe's owner.
            os.fchown(pipe.write, *order.owner)
        seccomp = None if order.seccomp is None else _memory(theirs, "seccomp", order.seccomp)
        inherited = Inherited(status=status.write, report=report.write, seccomp=seccomp)
        words = order.words(inherited)
        plan = _memory(theirs, "plan", b"".join(os.fsencode(word) + b"\0" for word in words.options))
        stdin = _memory(theirs, "stdin", order.stdin) if order.stdin else subprocess.DEVNULL
        try:
            started = subprocess.Popen(  # noqa: S603 (words are ours; the guest's are in the plan)
                (*order.program, "--args", str(plan), "--", *words.command),
                env=order.env,
                cwd="/",
                stdin=stdin,
                stdout=stdout.write,
                stderr=stderr.write,
                close_fds=True,
                pass_fds=[fd for fd in (inherited.status, inherited.report, seccomp, plan) if fd is not None],
                process_group=0,
                umask=0o022,
            )
        except OSError as error:
            raise SandboxError(f"{order.program[0]} could not be started: {error.strerror}") from error
        try:
            tree = Tree(started, Status(status.read), Report(report.read))
        except BaseException:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            raise
        ours.pop_all()
    return Running(tree=tree, stdout=stdout.read, stderr=stderr.read)


@dataclass(frozen=True, slots=True)
class _Pipe:
    read: int
    write: int


def _pipe(ours: ExitStack, theirs: ExitStack) -> _Pipe:
    read, write = os.pipe2(os.O_CLOEXEC)
    ours.callback(os.close, read)
    theirs.callback(os.close, write)
    return _Pipe(read, write)


def _memory(theirs: ExitStack, name: str, content: bytes) -> int:
    """Make a sealed file in memory, read from its start, that nobody can change or fill."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    theirs.callback(os.close, fd)
    with os.fdopen(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd
