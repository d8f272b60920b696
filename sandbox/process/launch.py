"""Starting bubblewrap: none of its options on its command line, nothing inherited but what is named."""

import os
from contextlib import ExitStack
from dataclasses import dataclass

from sandbox.errors import SandboxError
from sandbox.process.pipes import memory, owned_pipe, pipe
from sandbox.process.reports import Report, Status
from sandbox.process.spawner import PLAN_FD, Order, Spawner
from sandbox.process.tree import Fold, Tree


@dataclass(frozen=True, slots=True)
class Launch:
    """What to execute, as whom and with what."""

    program: str
    """Bubblewrap's absolute path."""
    options: tuple[str, ...]
    """In memory."""
    command: tuple[str, ...]
    """On bubblewrap's command line, as on the guest's own."""
    stdin: bytes
    seccomp: bytes | None
    owner: tuple[int, int]
    drops: bool
    """Whether root is to be given up for the owner."""
    sources: tuple[int, ...] = ()
    """As `Order.sources`; they stay the caller's."""
    fold: Fold | None = None
    """What it starts in."""
    listener: int | None = None
    """A descriptor to give as standard input, in place of `stdin`."""


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


def launch(spawner: Spawner, order: Launch) -> Running:
    """Start `order`; the caller ends and closes what runs. Raises SandboxError."""
    with ExitStack() as ours, ExitStack() as theirs:
        words = (order.program, "--args", str(PLAN_FD), "--", *order.command)
        uid, gid = order.owner if order.drops else (0, 0)
        try:
            stdout, stderr = (owned_pipe(ours, theirs, order.owner) for _ in range(2))
            status, report = (pipe(ours, theirs) for _ in range(2))
            asked = Order(
                words=memory(theirs, "words", _joined(words)),
                stdin=_stdin(theirs, order),
                stdout=stdout.write,
                stderr=stderr.write,
                plan=memory(theirs, "plan", _joined(order.options)),
                status=status.write,
                report=report.write,
                seccomp=None if order.seccomp is None else memory(theirs, "seccomp", order.seccomp),
                sources=order.sources,
                uid=uid,
                gid=gid,
                groups=() if order.fold is None else order.fold.entries,
            )
        except OSError as error:
            raise SandboxError(f"a sandbox can't be started: {error.strerror}") from error
        started = Tree(spawner.start(asked), Status(status.read), Report(report.read), order.fold)
        ours.pop_all()
    return Running(tree=started, stdout=stdout.read, stderr=stderr.read)


def _joined(words: tuple[str, ...]) -> bytes:
    return os.fsencode("\0".join(words) + "\0")


def _stdin(theirs: ExitStack, order: Launch) -> int:
    if order.listener is not None:
        return order.listener
    return memory(theirs, "stdin", order.stdin) if order.stdin else _nothing(theirs)


def _nothing(theirs: ExitStack) -> int:
    fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    theirs.callback(os.close, fd)
    return fd
