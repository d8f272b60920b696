"""`native/init.c` in Python, for hosts without a C compiler: same words, same report, some 30 ms of CPU time more.

It is not imported but bound into the sandbox and executed by the host's /usr/bin/python3, so it stands alone.
"""

import ctypes
import os
import resource
import signal
import sys
from typing import NoReturn

_BROKEN = 125
_NOT_EXECUTED = 127
_PR_SET_DUMPABLE = 4
_FIRST_COMMAND_WORD = 6


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


def _main(words: list[str]) -> NoReturn:
    if os.getpid() != 1:  # anywhere else, kill(-1) would end whatever the user owns
        os._exit(_BROKEN)
    report, file_size, open_files, processes, data = (int(word) for word in words[1:_FIRST_COMMAND_WORD])
    if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        os._exit(_BROKEN)
    os.set_inheritable(report, False)  # noqa: FBT003 (positional-only)
    _refuse_open_descriptors(report)
    _reset_signals()
    _limit(report, resource.RLIMIT_CORE, "core", 0)
    _limit(report, resource.RLIMIT_FSIZE, "fsize", file_size)
    _limit(report, resource.RLIMIT_NOFILE, "nofile", open_files)
    _limit(report, resource.RLIMIT_DATA, "data", data)
    code = _reap_until(_start(report, words[_FIRST_COMMAND_WORD:], processes))
    _kill_the_rest()
    _say(report, f"signaled {-code}" if code < 0 else f"exited {code}")
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    _main(sys.argv)
