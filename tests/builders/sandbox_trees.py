"""Who lives on the host: the spawners, bubblewraps and guests of a test."""

import os
import time
from pathlib import Path


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def spawners():
    """Give the process numbers of the spawners that serve this process's own thread."""
    stubs = [pid for pid in children_of(os.getpid()) if b"/spawner" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return [spawner for stub in stubs for spawner in children_of(stub)]


def bubblewraps():
    """Give the process numbers of the bubblewraps that this process has running."""
    return [child for spawner in spawners() for child in children_of(spawner)]


def living(mark):
    """Give the other processes whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(entry.name)
    return found


def is_soon(claim, limit_s=10.0):
    """Wait until the claim holds, for so long at most."""
    limit = time.monotonic() + limit_s
    while not claim() and time.monotonic() < limit:
        time.sleep(0.01)
    return claim()
