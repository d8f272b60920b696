"""What this machine has, and how much of it is free."""

import os
from pathlib import Path

from farm.model import Machine


def look_at_machine(root: Path, meminfo: Path = Path("/proc/meminfo")) -> Machine:
    """Look at the machine, and at the file system of the work root."""
    system, disk, memory = os.uname(), os.statvfs(root), _memory(meminfo)
    return Machine(
        architecture=system.machine,
        kernel=f"{system.sysname} {system.release}",
        cpus=len(os.sched_getaffinity(0)),
        load=os.getloadavg()[0],
        memory_bytes=memory.get("MemTotal"),
        memory_free_bytes=memory.get("MemAvailable"),
        disk_bytes=disk.f_blocks * disk.f_frsize,
        disk_free_bytes=disk.f_bavail * disk.f_frsize,
        inodes=disk.f_files or None,
        inodes_free=disk.f_favail if disk.f_files else None,
    )


def _memory(meminfo: Path) -> dict[str, int]:
    try:
        rows = (line.split() for line in meminfo.read_text().splitlines())
        return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if row[2:] == ["kB"]}
    except (OSError, ValueError):
        return {}
