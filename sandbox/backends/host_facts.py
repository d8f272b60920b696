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


def read(root: Path, proc: Path = Path("/proc")) -> Facts:
    """Tell the kernel, its switches, swap, and what `root` lies on; None is what isn't there."""
    mounts = (proc / "self" / "mountinfo").read_text().splitlines()
    return {
        "kernel": platform.release(),
        **{name.rpartition("/")[2]: _line(proc / "sys" / name) for name in _SYSCTLS},
        "swap_bytes": _swap(proc / "meminfo"),
        "cgroups": _cgroups(mounts),
        "root_file_system": _file_system(root, mounts),
        "landlock_abi": _landlock(),
    }


def probes(root: Path, proc: Path = Path("/proc")) -> Iterator[Probe]:
    """Tell them in words; refuse what runs a stranger as root whenever a guest crashes."""
    facts = read(root, proc)
    swap = facts["swap_bytes"]
    told = f"Linux {facts['kernel']}, cgroups {facts['cgroups']}, Landlock {facts['landlock_abi'] or 'absent'}"
    told = f"{told}, {'swap' if swap else 'no swap'}, {facts['root_file_system']}"
    yield Probe("host", ok=True, detail=told)
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


def _kind(mount: str) -> str:
    return mount.partition(" - ")[2].split()[0]


def _file_system(root: Path, mounts: list[str]) -> str:
    above = [line for line in mounts if root.is_relative_to(line.split()[4])]
    # The deepest mount point, and of those the last: it covers the others.
    deepest = max(enumerate(above), key=lambda at: (len(at[1].split()[4]), at[0]), default=None)
    return "unknown" if deepest is None else _kind(deepest[1])


def _cgroups(mounts: list[str]) -> str:
    kinds = {_kind(line) for line in mounts}
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
