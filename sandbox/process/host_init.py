"""The parent of a command that nothing contains: it tells how the command ended, and leaves nothing of it alive.

It is not imported but executed by the worker's own Python, so it stands alone. Called as
`host_init.py REPORT LIFELINE UID GID FSIZE NOFILE DATA CWD COMMAND [ARGUMENT...]`. When LIFELINE ends, whoever
started us is dead or wants an end. It is the subreaper of all that the command leaves, so whoever's parent dies becomes
its child, and it is done when it has none. The report is one line: a word, a number, microseconds of processor time.
"""

import ctypes
import os
import resource
import select
import signal
import sys
from typing import NoReturn

_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_NOT_EXECUTED = 127
_FIRST_COMMAND_WORD = 9
_LIBC = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int) -> None:
    if _LIBC.prctl(option, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:  # where the host is stricter already, its bound stays
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def _execute(words: list[str], failures: int) -> NoReturn:
    uid, gid, file_size, open_files, data = (int(word) for word in words[3:8])
    step = "drop"
    try:
        os.setsid()
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        _prctl(_PR_SET_NO_NEW_PRIVS)
        step = "limit"
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, file_size)
        _limit(resource.RLIMIT_NOFILE, open_files)
        _limit(resource.RLIMIT_DATA, data)
        step = "chdir"
        os.chdir(words[8])
        step = "exec"
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        os.execvp(words[_FIRST_COMMAND_WORD], words[_FIRST_COMMAND_WORD:])  # noqa: S606 (the guest's command)
    except OSError as error:
        os.write(failures, f"{step} {error.errno or 0}".encode())
    os._exit(_NOT_EXECUTED)


def _wait(command: int, lifeline: int, woken: int) -> int | None:
    """Wait for the command; None when the lifeline ended first."""
    while True:
        ready, _, _ = select.select([lifeline, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            while True:
                ended, status = os.waitpid(-1, os.WNOHANG)
                if ended == command:
                    return os.waitstatus_to_exitcode(status)
                if ended == 0:
                    break
        if lifeline in ready:
            return None


def _children() -> list[int]:
    found: list[int] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 (pathlib costs milliseconds)
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:  # noqa: PTH123 (the same)
                    parent = file.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if parent == str(os.getpid()):
                found.append(int(name))
    return found


def _kill_all() -> None:
    """Kill children until there are none: the children of each that dies become ours."""
    while True:
        for child in _children():
            os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _main(words: list[str]) -> None:
    report, lifeline = int(words[1]), int(words[2])
    for fd in (report, lifeline):
        os.set_inheritable(fd, False)  # noqa: FBT003 (positional-only)
    _prctl(_PR_SET_CHILD_SUBREAPER)
    woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    failed, fails = os.pipe2(os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    command = os.fork()
    if command == 0:
        _execute(words, fails)
    os.close(fails)
    code = _wait(command, lifeline, woken)
    _kill_all()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    failure = os.read(failed, 100).decode()
    said = "ended 0" if code is None else f"signaled {-code}" if code < 0 else f"exited {code}"
    os.write(report, f"{failure or said} {int((usage.ru_utime + usage.ru_stime) * 1e6)}\n".encode())


if __name__ == "__main__":
    _main(sys.argv)
