"""Which control groups this machine gives us; where it gives none, why.

Root of a machine with version 1 takes the hierarchies that it is in. Version 2 is taken where all controllers that we
need are there and may be passed on: the group that we are in must hold nobody but us, because a group with processes
can't have limited groups below it; we step aside into a leaf. So nobody else's session is ever moved.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.limits.area import PREFIX
from sandbox.limits.files import Kernel, pids, put
from sandbox.limits.group import Group, Groups
from sandbox.limits.version_one import VersionOne
from sandbox.limits.version_two import CONTROLLERS, VersionTwo

_ASIDE = "sandbox-owner"
_NAMES = ("pids", "memory", "cpu", "cpuacct", "freezer")
"""The hierarchies of version 1 that we need, as `VersionOne` takes them."""


@dataclass(frozen=True, slots=True)
class Found:
    """Control groups, or the reason why there are none."""

    groups: Groups | None
    reason: str = ""


def find(proc: Path = Path("/proc/self")) -> Found:
    """Look at where this process is. Raises nothing: a machine without them has rlimits still."""
    places = _places((proc / "cgroup").read_text(), (proc / "mountinfo").read_text())
    try:
        if "" in places and _has_controllers(places[""]):
            return _second(places[""])
        return _first(places)
    except (OSError, SandboxError) as error:
        return Found(None, str(error))


def of_process(pid: int, mark: str, proc: Path = Path("/proc")) -> Group | None:
    """Give the group that somebody else made for process `pid`, to be read and no more; None where we can't see it.

    Its name holds `mark`, for in another PID namespace `pid` is anybody.
    """
    try:
        places = _places((proc / str(pid) / "cgroup").read_text(), (proc / "self" / "mountinfo").read_text())
    except OSError:
        return None
    seen = {name: place for name, place in places.items() if mark in place.name and place.is_dir()}
    if "" in seen and _has_controllers(seen[""]):
        return Group(Kernel(), VersionTwo(seen[""]))
    return Group(Kernel(), VersionOne(*(seen[name] for name in _NAMES))) if seen.keys() >= set(_NAMES) else None


def _first(places: Mapping[str, Path]) -> Found:
    missing = [name for name in _NAMES if name not in places]
    if missing:
        return Found(None, f"no control group of {', '.join(missing)} is mounted")
    closed = [str(places[name]) for name in _NAMES if not os.access(places[name], os.W_OK)]
    if closed:
        return Found(None, f"{closed[0]} is not ours to write")
    return Found(Groups(VersionOne(*(places[name] for name in _NAMES))))


def _second(own: Path) -> Found:
    delegated = own.parent if own.name == _ASIDE else own
    if not os.access(delegated / "cgroup.subtree_control", os.W_OK):
        return Found(None, f"{delegated} is not delegated to us; start the worker by systemd with Delegate=yes")
    is_whole_machine = not (delegated / "cgroup.events").exists()
    is_in_the_way = own == delegated and not is_whole_machine
    other = next((pid for pid in pids(own) if not _is_below_us(pid)), None) if is_in_the_way else None
    if other is not None:
        return Found(None, f"{own} holds others (process {other}); start the worker by systemd, Delegate=yes")
    place = VersionTwo(delegated)
    if not _can_kill(place.below(PREFIX)):
        return Found(None, f"groups in {delegated} have no cgroup.kill; it comes with Linux 5.14")
    if is_in_the_way:
        (own / _ASIDE).mkdir(exist_ok=True)
        for pid in pids(own):
            put(own / _ASIDE / "cgroup.procs", pid)
    place.pass_on(delegated)
    return Found(Groups(place))


def _can_kill(group: VersionTwo) -> bool:
    """Look at a group that we make: the machine's own has no such file on any kernel."""
    group.folder.mkdir(exist_ok=True)
    return (group.folder / "cgroup.kill").exists()


def _has_controllers(own: Path) -> bool:
    folder = own.parent if own.name == _ASIDE else own
    try:
        return set(CONTROLLERS) <= set((folder / "cgroup.controllers").read_text().split())
    except OSError:
        return False


def _is_below_us(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return True  # gone meanwhile
    return False


def _places(cgroup: str, mountinfo: str) -> dict[str, Path]:
    """Give the folder that we are in for each controller of version 1; "" stands for version 2."""
    mounts = _mounts(mountinfo)
    found: dict[str, Path] = {}
    for line in cgroup.splitlines():
        _, controllers, own = line.split(":", 2)
        for name in controllers.split(","):
            if name in mounts:
                found[name] = mounts[name].folder_of(own)
    return found


@dataclass(frozen=True, slots=True)
class _Mount:
    root: str
    """Which group of the hierarchy appears at `point`."""
    point: Path

    def folder_of(self, own: str) -> Path:
        below = own.removeprefix(self.root) if self.root != "/" else own
        return self.point / below.lstrip("/")


def _mounts(mountinfo: str) -> dict[str, _Mount]:
    found: dict[str, _Mount] = {}
    for line in mountinfo.splitlines():
        words = line.split()
        kind, options = words[words.index("-") + 1], words[-1]
        mount = _Mount(words[3], Path(words[4]))
        if kind == "cgroup2":
            found[""] = mount
        elif kind == "cgroup":
            found.update(dict.fromkeys(options.split(","), mount))
    return found
