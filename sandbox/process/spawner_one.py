"""`native/spawner.c` in Python, for hosts without a C compiler: same messages, some milliseconds more a run.

It is not imported but executed by the host's /usr/bin/python3 as an ordinary program, so it stands alone.
"""

import array
import contextlib
import ctypes
import fcntl
import os
import select
import signal
import socket
import stat
import sys
from typing import NoReturn

_REFUSED = 97
_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_MS_SLAVE_ALL = 0x4000 | 0x80000
_MS_TERMINALS = 2 | 8
_TERMINALS = b"newinstance,ptmxmode=0666,mode=0620,max=64"
_MS_BARE = 2 | 4 | 8
_LINE = 128
_MOST_FDS = 128
_FD_BYTES = 4
_HIGH = 200
_CHANNEL, _WORDS, _STDIN, _SECCOMP = 0, 1, 2, 8
_FIRST_SOURCE = 7
_PLACES = (0, 1, 2, 3, 4, 5, 6)

_libc = ctypes.CDLL(None, use_errno=True)


def _say(to: socket.socket, text: str, *fds: int) -> None:
    with contextlib.suppress(OSError):  # whoever does not listen is about to be noticed as gone
        socket.send_fds(to, [text.encode()], fds, socket.MSG_DONTWAIT)


def _refuse(to: socket.socket, step: str, number: int) -> NoReturn:
    _say(to, f"failed {step} {number}")
    os._exit(_REFUSED)


def _fail(what: str, error: OSError) -> NoReturn:
    os.write(2, f"launcher: {what}: {error.strerror}\n".encode())
    os._exit(_REFUSED)


class _Run:
    """One bubblewrap: 0 as pid once it was waited for, no channel once that is closed."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self.channel: socket.socket | None = channel

    def answer(self) -> None:
        if self.channel is None:
            return
        try:
            text = self.channel.recv(_LINE)
        except ConnectionResetError:
            text = b""
        if text in (b"", b"kill"):
            if self.pid:  # not waited for yet, so the number is still its own
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
        else:
            self._find(self.channel, int(text.split()[1]))
        if not text:
            self.channel.close()
            self.channel = None

    def _find(self, channel: socket.socket, wanted: int) -> None:
        try:
            found = os.pidfd_open(wanted)
        except (OSError, ValueError):
            _say(channel, "gone")
            return
        _say(channel, "found", found)
        os.close(found)


def _become(text: bytes, fds: list[int]) -> NoReturn:
    entering = None
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.umask(0o022)
    uid, gid, has_seccomp, sources = (int(word) for word in text.split()[1:])
    groups = _SECCOMP + has_seccomp + sources
    try:
        for entry in fds[groups:]:
            _enter(entry)
    except OSError as error:
        entering = error
    step = "descriptors"
    try:
        fds = [_above(fd) for fd in fds[:groups]]
        places = (*_PLACES[: len(_PLACES) - 1 + has_seccomp], *range(_FIRST_SOURCE, _FIRST_SOURCE + sources))
        for fd, place in zip(fds[_STDIN:], places, strict=True):
            os.dup2(fd, place)
        step = "cgroup"
        if entering is not None:
            raise entering
        step = "words"
        words = os.pread(fds[_WORDS], os.fstat(fds[_WORDS]).st_size, 0).split(b"\0")[:-1]
        step = "terminals"
        _have_own_terminals()
        if uid:
            step = "setgroups"
            _drop(uid, gid)
        step = os.fsdecode(words[0])
        os.execv(words[0], words)  # noqa: S606 (what the worker named)
    except OSError as error:
        _fail(step, error)


def _have_own_terminals() -> None:
    """Have an instance with a bound of its own, as in `native/spawner.c`."""
    is_own = _libc.unshare(_CLONE_NEWNS) == 0
    if not is_own or _libc.mount(b"devpts", b"/dev/pts", b"devpts", _MS_TERMINALS, _TERMINALS) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _enter(entry: int) -> None:
    if stat.S_ISDIR(os.fstat(entry).st_mode):
        entry = os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=entry)
    os.write(entry, b"0")


def _above(fd: int) -> int:
    """Move a descriptor above every place, so that none is overwritten before it is moved."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)


def _drop(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()):
        os.write(2, b"launcher: refusing to run bubblewrap as uid or gid 0\n")
        os._exit(_REFUSED)


def _started(text: bytes, fds: list[int]) -> _Run | None:
    channel = socket.socket(fileno=fds[_CHANNEL])
    try:
        pid = os.fork()
    except OSError as error:
        _say(channel, f"failed fork {error.errno}")
        channel.close()
        return None
    if pid == 0:
        os.setpgid(0, 0)
        _become(text, fds)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    return _Run(pid, channel)


def _reap(runs: list[_Run]) -> None:
    while True:
        try:
            pid, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        for run in runs:
            if run.pid == pid:
                run.pid = 0
                if run.channel is not None:
                    times = f"{int(used.ru_utime * 1e6)} {int(used.ru_stime * 1e6)}"
                    _say(run.channel, f"ended {status} {times}")


def _serve(ours: socket.socket) -> NoReturn:
    read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    self = os.pidfd_open(os.getpid())
    _say(ours, "ready", self)
    os.close(self)
    runs: list[_Run] = []
    while True:
        heard = {run.channel.fileno(): run for run in runs if run.channel is not None}
        poll = select.poll()
        for fd in (ours.fileno(), read, *heard):
            poll.register(fd, select.POLLIN)
        ready = [fd for fd, _ in poll.poll()]
        if read in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(read, 4096)
            _reap(runs)
        for fd in ready:
            if fd in heard:
                heard[fd].answer()
        if ours.fileno() in ready:
            _take(ours, runs)
        runs = [run for run in runs if run.pid or run.channel is not None]


def _receive(source: socket.socket) -> tuple[bytes, list[int]]:
    try:  # socket.recv_fds would drop the flag
        text, control, _, _ = source.recvmsg(_LINE, socket.CMSG_LEN(_MOST_FDS * _FD_BYTES), socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return b"", []
    return text, [fd for _, _, content in control for fd in array.array("i", content)]


def _take(ours: socket.socket, runs: list[_Run]) -> None:
    text, fds = _receive(ours)
    if not text:
        os._exit(0)
    run = _started(text, fds)
    for fd in fds[1:]:
        os.close(fd)
    if run is not None:
        runs.append(run)


def _put(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _main(words: list[str]) -> NoReturn:
    ours = socket.socket(fileno=int(words[1]))
    ours.set_inheritable(False)
    uid, gid = os.geteuid(), os.getegid()
    os.chdir("/")
    if _libc.unshare(_CLONE_NEWPID | _CLONE_NEWNS | (_CLONE_NEWUSER if uid else 0)) != 0:
        _refuse(ours, "unshare", ctypes.get_errno())
    if uid:
        try:
            _put("/proc/self/setgroups", "deny")
            _put("/proc/self/gid_map", f"{gid} {gid} 1")
            _put("/proc/self/uid_map", f"{uid} {uid} 1")
        except OSError as error:
            _refuse(ours, "map", error.errno or 0)
    if _libc.mount(None, b"/", None, _MS_SLAVE_ALL, None) != 0:
        _refuse(ours, "mounts", ctypes.get_errno())
    first = os.fork()
    if first == 0:
        if _libc.mount(b"proc", b"/proc", b"proc", _MS_BARE, None) != 0:
            _refuse(ours, "proc", ctypes.get_errno())
        _serve(ours)
    ours.close()
    os.waitpid(first, 0)
    os._exit(0)


if __name__ == "__main__":
    _main(sys.argv)
