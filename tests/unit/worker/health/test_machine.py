"""What a worker says of its machine."""

import os
from pathlib import Path

from worker.health.machine import look_at_machine


def test_a_machine_is_looked_at_where_its_cells_live(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 8000 kB\nMemFree: 1 kB\nMemAvailable: 3000 kB\nHugePages_Total: 0\n")
    machine = look_at_machine(tmp_path, meminfo)
    assert (machine.memory_bytes, machine.memory_free_bytes) == (8_192_000, 3_072_000)
    disk = os.statvfs(tmp_path)
    assert machine.disk_bytes == disk.f_blocks * disk.f_frsize
    assert 0 < machine.disk_free_bytes <= machine.disk_bytes
    assert (machine.architecture, machine.kernel) == (os.uname().machine, f"Linux {os.uname().release}")
    assert machine.cpus == len(os.sched_getaffinity(0))


def test_memory_that_nobody_tells_is_not_known(tmp_path: Path) -> None:
    assert look_at_machine(tmp_path, tmp_path / "none").memory_bytes is None
    (tmp_path / "odd").write_text("MemTotal: many kB\n")
    assert look_at_machine(tmp_path, tmp_path / "odd").memory_bytes is None
