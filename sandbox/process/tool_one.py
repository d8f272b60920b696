#!/usr/bin/python3 -ISB
"""`native/tool.c` and `native/room.c` in Python, for hosts without a C compiler: same words, same ends, slower.

It is not imported but bound into both sandboxes, where its first line executes it, so it stands alone.
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
import struct
import sys
from typing import NoReturn

_ROOM = f"/run/{sys.argv[0].rpartition('/')[2]}.sock"
_ORDER = struct.Struct("=II")
_STATUS = struct.Struct("=i")
_IS_SEALED = sys.argv[1:] == ["--serve-sealed"]
_STDIO = 3
_MOST_BYTES = 4 << 20
_PR_SET_DUMPABLE = 4
_NOT_RUN, _NOT_EXECUTABLE, _NOT_FOUND = 125, 126, 127


def _fail(what: str) -> NoReturn:
    os.write(2, f"tool: {what}\n".encode(errors="replace"))
    os._exit(_NOT_RUN)


def _received(peer: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size and (chunk := peer.recv(size - len(found))):
        found += chunk
    return found


def _run_there(words: list[str]) -> int:
    environment = [name + b"=" + value for name, value in os.environb.items()]
    texts = [os.getcwdb(), *(os.fsencode(word) for word in words), *environment]  # noqa: PTH109 (pathlib costs milliseconds)
    text = b"".join(word + b"\0" for word in texts)
    if len(text) > _MOST_BYTES:
        _fail("order: Argument list too long")
    with socket.socket(socket.AF_UNIX) as there:
        try:
            there.connect(_ROOM)
            socket.send_fds(there, [_ORDER.pack(len(text), len(words))], list(range(_STDIO)))
            there.sendall(text)
            status = _received(there, _STATUS.size)
        except OSError as error:
            _fail(f"{_ROOM}: {error.strerror}")
    if len(status) != _STATUS.size:
        _fail("the room ended before the command")
    code: int = _STATUS.unpack(status)[0]
    return code


def _is_stream(fd: int) -> bool:
    """Refuse a folder of the session, which would lead to all that the session sees, its door included."""
    return not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_PATH and not stat.S_ISDIR(os.fstat(fd).st_mode)


def _become(words: list[bytes], count: int, stdio: list[int]) -> NoReturn:
    os.setsid()
    for fd in range(_STDIO):
        os.dup2(stdio[fd], fd)
    given = dict(word.split(b"=", 1) for word in words[count + 1 :] if b"=" in word)
    try:
        os.chdir(words[0])
        os.execvpe(words[1], words[1 : count + 1], {**os.environb, b"PWD": words[0]} if _IS_SEALED else given)  # noqa: S606 (the guest's command, inside its room)
    except OSError as error:
        os.write(2, f"tool: {error.filename or os.fsdecode(words[1])}: {error.strerror}\n".encode())
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_EXECUTABLE)


def _mind(caller: socket.socket) -> int:
    head, rights, _, _ = caller.recvmsg(_ORDER.size, socket.CMSG_SPACE(_STDIO * 4), socket.MSG_WAITALL)
    stdio = array.array("i")
    for _, _, body in rights:
        stdio.frombytes(body)
    size, count = _ORDER.unpack(head)
    if size == 0:  # the init reaps the server and then all others, so that their processor time is counted
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    if len(stdio) != _STDIO or not all(map(_is_stream, stdio)) or size > _MOST_BYTES:
        return _NOT_RUN << 8
    words = _received(caller, size).split(b"\0")[:-1]
    if not 0 < count < len(words):
        return _NOT_RUN << 8
    command = os.fork()
    if command == 0:
        _become(words, count, list(stdio))
    for fd in stdio:
        os.close(fd)
    ended = os.pidfd_open(command)
    watched: list[int] = [ended, caller.fileno()]
    if ended not in select.select(watched, [], [])[0]:
        os.kill(command, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command, signal.SIGKILL)
    return os.waitpid(command, 0)[1]


def _serve() -> NoReturn:
    listener = socket.socket(fileno=os.dup(0))
    nothing = os.open("/dev/null", os.O_RDWR)
    if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        os._exit(_NOT_RUN)
    for fd in range(_STDIO):
        os.dup2(nothing, fd)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: _reap())
    while True:
        caller, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            with contextlib.suppress(OSError, ValueError, struct.error):
                caller.sendall(_STATUS.pack(_mind(caller)))
            os._exit(0)
        caller.close()


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _main(words: list[str]) -> NoReturn:
    if _IS_SEALED or words == ["--serve"]:
        _serve()
    if not words:
        _fail("usage: tool COMMAND [ARGUMENT...]")
    code = os.waitstatus_to_exitcode(_run_there(words))
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no other disposition
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    _main(sys.argv[1:])
