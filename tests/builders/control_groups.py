"""A tree of files as the kernel names them for control groups of version 2, with nobody in it."""

import shutil
from pathlib import Path

from sandbox.limits.files import Kernel

FILES = {
    "cgroup.procs": "",
    "cgroup.controllers": "cpu memory pids\n",
    "cgroup.subtree_control": "",
    "cgroup.events": "populated 0\nfrozen 0\n",
    "cgroup.kill": "",
    "cpu.max": "max 100000\n",
    "cpu.stat": "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n",
    "memory.max": "max\n",
    "memory.swap.max": "max\n",
    "memory.oom.group": "0\n",
    "memory.peak": "7340032\n",
    "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
    "pids.max": "max\n",
    "pids.peak": "6\n",
    "pids.events": "max 0\n",
}


def make_group(folder: Path) -> None:
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content)


def fake_kernel() -> Kernel:
    """Give what makes and removes groups of files alone."""
    return Kernel(make=make_group, remove=shutil.rmtree)


def delegated(folder: Path) -> Path:
    """Make a delegated subtree with nobody in it."""
    make_group(folder / "service")
    return folder / "service"
