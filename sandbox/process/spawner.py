"""The worker's side of the spawner: one process that starts every bubblewrap, and with which they all die.

The kernel ends a child with its parent's *thread* where it is asked to, and a request that comes after the death of
either is never heard; so nothing here rests on that. The spawner is process 1 of its own PID namespace and ends when
our end of its socket is closed, which the kernel does however we die; `native/spawner.c` tells the protocol.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from sandbox.errors import SandboxError, SandboxUnavailableError, SandboxUnhealthyError
from sandbox.process.waiting import is_readable, is_waited_for

PLAN_FD: Final = 3
STATUS_FD: Final = 4
REPORT_FD: Final = 5
SECCOMP_FD: Final = 6
FIRST_SOURCE_FD: Final = 7
"""Where bubblewrap finds the descriptors that it gets besides 0, 1 and 2."""
_LINE = 128
_FD_BYTES = 4
_ANSWER_S = 5.0
_CAUSES = {
    "unshare": "it got no namespaces of its own: allow unprivileged user namespaces, or give a container CAP_SYS_ADMIN",
    "map": "it could not map its own uid: allow unprivileged user namespaces, by AppArmor profile or sysctl",
    "mounts": "this container may not change mounts: run the worker on the host, or give it CAP_SYS_ADMIN",
    "proc": "the container hides parts of /proc: unmask /proc for the container (--security-opt)",
}


@dataclass(frozen=True, slots=True)
class Order:
    """One bubblewrap to start: open descriptors, which stay the caller's, and who it shall be."""

    words: int
    """The program and its arguments, each ended by a NUL."""
    stdin: int
    stdout: int
    stderr: int
    plan: int
    status: int
    report: int
    seccomp: int | None = None
    sources: tuple[int, ...] = ()
    """Of binds: found from FIRST_SOURCE_FD on."""
    uid: int = 0
    """0: whoever the worker is."""
    gid: int = 0
    groups: tuple[int, ...] = ()
    """Entries of the control groups to start in."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Bubblewrap was waited for."""

    cpu_s: float


class Channel:
    """One run's own socket: what can be asked of the spawner about it, and what it tells."""

    def __init__(self, ours: socket.socket, spawner: int) -> None:
        self._socket = ours
        self._spawner = spawner
        self.fd = ours.fileno()
        self.ended: Ended | None = None
        self.failure: str | None = None
        self.is_open = True

    def read(self) -> None:
        """Take what has been told."""
        while self.is_open:
            try:
                letter = self._hear(socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            self._take(letter.text)

    def kill(self) -> None:
        """Kill bubblewrap's process group, unless it has been waited for."""
        self._say(b"kill")

    def find(self, pid: int) -> int | None:
        """Give a pidfd of `pid`, a number of bubblewrap's; None when nobody has it. Raises SandboxUnhealthyError."""
        self._say(b"find %d" % pid)
        while self.is_open:
            if not is_readable(self.fd, _ANSWER_S):
                raise SandboxUnhealthyError(
                    f"the spawner does not answer within {_ANSWER_S:.0f} s, so nobody's death is proven: "
                    "this host is unhealthy; take no more work here and look for processes in state D or T"
                )
            letter = self._hear(0)
            if letter.text in (b"found", b"gone"):
                return letter.fds[0] if letter.fds else None
            self._take(letter.text)
        return None

    def is_dead_with_its_spawner(self, limit_s: float) -> bool:
        """Tell whether the spawner is dead, and with it all that it ever started."""
        return is_readable(self._spawner, limit_s)

    def close(self) -> None:
        """Let go; what still lives of bubblewrap is killed."""
        self._socket.close()
        os.close(self._spawner)

    def _hear(self, flags: int) -> "_Letter":
        try:
            letter = _receive(self._socket, flags)
        except ConnectionResetError:
            letter = _Letter(b"", ())
        self.is_open = bool(letter.text)
        return letter

    def _say(self, text: bytes) -> None:
        try:
            self._socket.send(text)
        except (BrokenPipeError, ConnectionResetError):
            self.is_open = False

    def _take(self, text: bytes) -> None:
        match text.split():
            case [b"ended", _, user, system]:
                self.ended = Ended((int(user) + int(system)) / 1e6)
            case [b"failed", step, number]:
                self.failure = f"{step.decode()}: {os.strerror(int(number))}"
            case _:
                self.is_open = False  # the end, or nothing that a spawner says


class Spawner:
    """Starts the spawner when it is first needed, and anew when it died; threads may share it.

    After a fork the child's copy has forgotten the parent's spawner, so that its life depends on the parent alone.
    """

    def __init__(self, words: tuple[str, ...], env: Mapping[str, str]) -> None:
        self._words = words
        self._env = dict(env)
        self._live: _Live | None = None
        self._starting = threading.Lock()  # guards _live: two threads must not start two spawners
        _spawners.add(self)

    def start(self, order: Order) -> Channel:
        """Start what `order` says. Raises SandboxError; SandboxUnavailableError where no spawner can be had."""
        fds = (order.words, order.stdin, order.stdout, order.stderr, order.plan, order.status, order.report)
        seccomp = () if order.seccomp is None else (order.seccomp,)
        text = b"spawn %d %d %d %d" % (order.uid, order.gid, len(seccomp), len(order.sources))
        try:
            live = self._ready()
            ours, theirs = _pair()
            with theirs, ExitStack() as unused:
                unused.callback(ours.close)
                socket.send_fds(live.socket, [text], [theirs.fileno(), *fds, *seccomp, *order.sources, *order.groups])
                channel = Channel(ours, os.dup(live.pidfd))
                unused.pop_all()
        except OSError as error:
            raise SandboxError(f"the spawner can't be told to start a sandbox: {error.strerror}") from error
        return channel

    def close(self) -> None:
        """End the spawner and all that it started."""
        live, self._live = self._live, None
        if live is not None:
            live.end()

    def cut(self) -> None:
        """Close the lifeline and nothing else, as the kernel does when we die: to see what that ends; then `close`."""
        if self._live is not None:
            self._live.socket.close()

    def forget(self) -> None:
        """Let go of a spawner that is another process's."""
        self._starting = threading.Lock()
        if self._live is not None:
            self._live.abandon()
            self._live = None

    def _ready(self) -> "_Live":
        with self._starting:
            if self._live is not None and is_readable(self._live.pidfd, 0):
                self.close()
            if self._live is None:
                self._live = _start(self._words, self._env)
                weakref.finalize(self, self._live.end)
            return self._live


@dataclass(frozen=True, slots=True)
class _Letter:
    text: bytes
    fds: tuple[int, ...]


def _receive(source: socket.socket, flags: int = 0) -> _Letter:
    """Receive one message; socket.recv_fds would drop the flags, and leave descriptors that children inherit."""
    room = socket.CMSG_LEN(_FD_BYTES)
    text, control, _, _ = source.recvmsg(_LINE, room, flags | socket.MSG_CMSG_CLOEXEC)
    fds = [
        int.from_bytes(content[:_FD_BYTES], sys.byteorder)
        for level, kind, content in control
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
    ]
    return _Letter(text, tuple(fds))


@dataclass(slots=True, weakref_slot=True)
class _Live:
    """A running spawner: the process that we started, which waits for the real one, and a pidfd of that."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    pidfd: int
    is_ours: bool = True

    def end(self) -> None:
        if self.is_ours:
            self.is_ours = False
            self.socket.close()
            is_dead = is_readable(self.pidfd, _ANSWER_S)
            send_kill(self.pidfd)  # and with it whoever it started
            os.close(self.pidfd)
            if not is_waited_for(self.process, _ANSWER_S):
                self.process.kill()
                is_dead = is_waited_for(self.process, _ANSWER_S) and is_dead
            if not is_dead:
                raise SandboxUnhealthyError(
                    f"the spawner is not dead {_ANSWER_S:.0f} s after its end: this host is unhealthy"
                )

    def abandon(self) -> None:
        if self.is_ours:
            self.is_ours = False
            self.socket.close()
            os.close(self.pidfd)
            self.process.returncode = 0  # not our child: nothing to wait for


_spawners: weakref.WeakSet[Spawner] = weakref.WeakSet()


def _forget_all() -> None:
    for spawner in tuple(_spawners):
        spawner.forget()


os.register_at_fork(after_in_child=_forget_all)


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _start(words: tuple[str, ...], env: Mapping[str, str]) -> _Live:
    ours, theirs = _pair()
    with theirs:
        try:
            process = subprocess.Popen(  # noqa: S603 (our own program)
                (*words, str(theirs.fileno())),
                env=env,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise SandboxUnavailableError(f"the spawner {words[0]} can't be started: {error.strerror}") from error
    ours.settimeout(_ANSWER_S)
    try:
        letter = _receive(ours)
    except OSError:
        letter = _Letter(b"", ())
    if letter.text == b"ready" and letter.fds:
        ours.settimeout(None)
        return _Live(process, ours, letter.fds[0])
    ours.close()
    process.kill()
    is_waited_for(process, _ANSWER_S)
    raise SandboxUnavailableError(_refusal(letter.text))


def _refusal(text: bytes) -> str:
    match text.decode(errors="replace").split():
        case ["failed", step, number]:
            cause = _CAUSES.get(step, step)
            return f"the spawner can't work here ({step}: {os.strerror(int(number))}): {cause}"
        case _:
            return "the spawner ended before it was ready; look at the kernel's log"


def send_kill(pidfd: int) -> None:
    """Kill whoever the pidfd stands for, if it still lives."""
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:
        return
