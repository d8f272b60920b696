"""What of this host decides how much a sandbox is worth: read, told in the evidence, and never written to."""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sandbox.spec import Facts, Probe

_SYSCTLS = (
    *("kernel/core_pattern", "kernel/unprivileged_bpf_disabled", "dev/tty/legacy_tiocsti", "kernel/io_uring_disabled"),
    *("user/max_user_namespaces", "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns"),
)
_CORE_HELPERS = ("systemd-coredump", "apport", "abrt-hook-ccpp", "wsl-capture-crash")
"""Programs of distributions that are known to treat a crashed process as hostile."""
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_VERSION = 1
_KIB = 1024


def read(proc: Path = Path("/proc")) -> Facts:
    """Tell the kernel, its switches, swap, the control groups' version and Landlock's; None is what isn't there."""
    return {
        "kernel": platform.release(),
        **{name.rpartition("/")[2]: _line(proc / "sys" / name) for name in _SYSCTLS},
        "swap_bytes": _swap(proc / "meminfo"),
        "cgroups": _cgroups(proc / "self" / "mountinfo"),
        "landlock_abi": _landlock(),
    }


def probes(proc: Path = Path("/proc")) -> Iterator[Probe]:
    """Tell them in words; refuse what runs a stranger as root whenever a guest crashes."""
    facts = read(proc)
    swap = facts["swap_bytes"]
    told = f"Linux {facts['kernel']}, cgroups {facts['cgroups']}, Landlock {facts['landlock_abi'] or 'absent'}"
    yield Probe("host", ok=True, detail=f"{told}, {'swap' if swap else 'no swap'}")
    yield Probe("host's switches", ok=True, detail=", ".join(_switches(facts)) or "none of those that we look for")
    pattern = str(facts["core_pattern"] or "")
    helper = pattern[1:].split(maxsplit=1)[0] if pattern.startswith("|") and pattern[1:].strip() else ""
    is_known = not pattern.startswith("|") or Path(helper).name in _CORE_HELPERS
    told = f"given to {helper or 'nobody'}" if pattern.startswith("|") else "written to a file, or not at all"
    fix = "the kernel runs that program as root on a guest's crash: sysctl kernel.core_pattern=core"
    yield Probe("crash dumps", ok=is_known, detail=told, fix=fix)


def _switches(facts: Facts) -> Iterator[str]:
    for path in _SYSCTLS[1:]:
        name = path.rpartition("/")[2]
        if facts[name] is not None:
            yield f"{name} {facts[name]}"


def _line(path: Path) -> str | None:
    with suppress(OSError):
        return path.read_text().strip()
    return None


def _swap(meminfo: Path) -> int | None:
    with suppress(OSError):
        for line in meminfo.read_text().splitlines():
            if line.startswith("SwapTotal:"):
                return int(line.split()[1]) * _KIB
    return None


def _cgroups(mountinfo: Path) -> str:
    kinds = {line.partition(" - ")[2].split()[0] for line in mountinfo.read_text().splitlines()}
    match "cgroup" in kinds, "cgroup2" in kinds:
        case True, True:
            return "v1 and v2"
        case True, False:
            return "v1"
        case False, True:
            return "v2"
        case _:
            return "none"


def _landlock() -> int | None:
    version: int = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION)
    return version if version > 0 else None
