"""`native/init.c` in Python, for hosts without a C compiler: same words, same report, some 30 ms of CPU time more.

It is not imported but bound into the sandbox and executed by the host's /usr/bin/python3, so it stands alone.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import NoReturn

_BROKEN = 125
_NOT_EXECUTED = 127
_PR_SET_DUMPABLE = 4
_FIRST_COMMAND_WORD = 7
_DOOR = "/run/model.sock"
_MOST_LINKS = 64
_BACKLOG = 128
_HELD = 32768


def _say(report: int, line: str) -> None:
    os.write(report, f"{line}\n".encode())


def _refuse_open_descriptors(report: int) -> None:
    # The listing's own descriptor is among the names; it is closed again by the time that fstat asks.
    for fd in sorted(int(name) for name in os.listdir("/proc/self/fd")):  # noqa: PTH208 (pathlib costs milliseconds)
        if fd not in (0, 1, 2, report) and _is_open(fd):
            _say(report, f"descriptor {fd}")
            os._exit(_BROKEN)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _limit(report: int, which: int, name: str, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:  # where the host is stricter already, its bound stays
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, value))
    except (OSError, ValueError) as error:
        _say(report, f"limit {name} {getattr(error, 'errno', 0)}")
        os._exit(_BROKEN)


def _reset_signals() -> None:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


class _Way:
    """One direction of a link between a caller and the door, as in `native/forwarder.c`."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self.source, self.sink = source, sink
        self.held = b""
        self.has_all = self.is_over = False

    def copy(self) -> None:
        if not self.held and not self.has_all and not self.is_over:
            self._read()
        if self.held and not self.is_over:
            self._write()
        if self.has_all and not self.held and not self.is_over:
            self.is_over = True
            with contextlib.suppress(OSError):
                self.sink.shutdown(socket.SHUT_WR)

    def _read(self) -> None:
        try:
            self.held = self.source.recv(_HELD)
        except BlockingIOError:
            return
        except OSError:
            self.held = b""
        self.has_all = not self.held

    def _write(self) -> None:
        try:
            self.held = self.held[self.sink.send(self.held) :]
        except BlockingIOError:
            return
        except OSError:  # nobody takes any more, but the other direction may go on
            self.is_over = True


class _Link:
    """One caller and its connection to the door."""

    def __init__(self, caller: socket.socket, door: socket.socket) -> None:
        caller.setblocking(False)  # noqa: FBT003 (positional-only)
        door.setblocking(False)  # noqa: FBT003 (positional-only)
        self.ends = (caller, door)
        self.ways = (_Way(caller, door), _Way(door, caller))

    def serve(self) -> bool:
        for way in self.ways:
            way.copy()
        if all(way.is_over for way in self.ways):
            for end in self.ends:
                end.close()
            return False
        return True


def _open_door(report: int, port: int) -> None:
    try:
        listener = socket.socket()
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
        forwarder = os.fork()
    except OSError as error:
        _say(report, f"door {error.errno}")
        os._exit(_BROKEN)
    if forwarder == 0:
        for fd in (0, 1, 2, report):  # the guest's outputs end with the guest
            os.close(fd)
        _forward(listener)
    listener.close()


def _forward(listener: socket.socket) -> NoReturn:
    listener.setblocking(False)  # noqa: FBT003 (positional-only)
    links: list[_Link] = []
    while True:
        ready = _ready(listener, links)
        links = [link for link in links if not ready.intersection(end.fileno() for end in link.ends) or link.serve()]
        if listener.fileno() in ready:
            links += _accepted(listener)


def _ready(listener: socket.socket, links: list[_Link]) -> set[int]:
    asked = {listener.fileno(): select.POLLIN} if len(links) < _MOST_LINKS else {}
    for link in links:
        for way in link.ways:
            if not way.is_over:
                fd, event = (way.sink.fileno(), select.POLLOUT) if way.held else (way.source.fileno(), select.POLLIN)
                asked[fd] = asked.get(fd, 0) | event
    poll = select.poll()
    for fd, events in asked.items():
        poll.register(fd, events)
    return {fd for fd, _ in poll.poll()}


def _accepted(listener: socket.socket) -> list[_Link]:
    try:
        caller = listener.accept()[0]
    except OSError:
        time.sleep(0.01)  # short of descriptors or memory, the listener stays ready
        return []
    door = socket.socket(socket.AF_UNIX)
    try:
        door.connect(_DOOR)
    except OSError:
        door.close()
        caller.close()
        return []
    return [_Link(caller, door)]


def _start(report: int, words: list[str], processes: int) -> int:
    _say(report, f"started {os.getpid()}")
    try:
        command = os.fork()
    except OSError as error:
        _say(report, f"fork {error.errno}")
        os._exit(_BROKEN)
    if command:
        return command
    _limit(report, resource.RLIMIT_NPROC, "nproc", processes)
    try:
        os.execvp(words[0], words)  # noqa: S606 (the guest's command, inside its sandbox)
    except OSError as error:
        _say(report, f"exec {error.errno}")
    os._exit(_NOT_EXECUTED)


def _reap_until(command: int) -> int:
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == command:
            return os.waitstatus_to_exitcode(status)


def _kill_the_rest() -> None:
    try:
        while True:
            os.kill(-1, signal.SIGKILL)
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        while True:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _tell_of_tmp(report: int) -> None:
    with contextlib.suppress(OSError):
        if os.statvfs("/tmp").f_bavail == 0:  # noqa: S108 (the sandbox's own)
            _say(report, "touched tmp")


def _main(words: list[str]) -> NoReturn:
    if os.getpid() != 1:  # anywhere else, kill(-1) would end whatever the user owns
        os._exit(_BROKEN)
    report, file_size, open_files, processes, data, port = (int(word) for word in words[1:_FIRST_COMMAND_WORD])
    if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        os._exit(_BROKEN)
    os.set_inheritable(report, False)  # noqa: FBT003 (positional-only)
    _refuse_open_descriptors(report)
    _reset_signals()
    if port:
        _open_door(report, port)
    _limit(report, resource.RLIMIT_CORE, "core", 0)
    _limit(report, resource.RLIMIT_FSIZE, "fsize", file_size)
    _limit(report, resource.RLIMIT_NOFILE, "nofile", open_files)
    _limit(report, resource.RLIMIT_DATA, "data", data)
    code = _reap_until(_start(report, words[_FIRST_COMMAND_WORD:], processes))
    _kill_the_rest()
    _tell_of_tmp(report)
    _say(report, f"signaled {-code}" if code < 0 else f"exited {code}")
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    _main(sys.argv)
