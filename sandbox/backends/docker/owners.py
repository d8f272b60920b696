"""Who started a container, in a form by which a later process can judge whether that one is still alive."""

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_START_TIME = 19
"""Where /proc/PID/stat has the start time, counted from behind the name, which may hold anything."""


def this_process() -> str:
    """Name this process so that no other can be mistaken for it, not even by its number."""
    pid = os.getpid()
    return f"{_boot()}.{_pid_namespace()}.{pid}.{_start_time(pid)}"


def is_dead(owner: str) -> bool:
    """Tell whether `owner` is surely dead; one in another PID namespace, or with an unknown name, is not."""
    match owner.split("."):
        case [boot, _, _, _] if boot != _boot():
            return True
        case [_, namespace, pid, started] if namespace == str(_pid_namespace()) and pid.isdigit():
            return _start_time(int(pid)) != started
        case _:
            return False


def _boot() -> str:
    return _BOOT.read_text().strip()


def _pid_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _start_time(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_START_TIME]
    except (FileNotFoundError, ProcessLookupError):
        return None
