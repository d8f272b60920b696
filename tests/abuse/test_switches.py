"""W1: the kernel's switches that a guest finds open are those of its own namespaces."""

import json
import os
from pathlib import Path

import pytest

from sandbox.testing import LIMITS
from tests.builders.sandbox_rooms import alone, system_python, users

FLIP = """
import json, os
found = {}
for folder, _, names in os.walk("/proc/sys"):
    for name in names:
        path = f"{folder}/{name}"
        try:
            fd = os.open(path, os.O_RDWR)
        except OSError:
            continue
        before = os.pread(fd, 200, 0).decode().split()
        number = int(before[0])
        after = [str(3000000 if name == "ns_last_pid" else number - 1 if number else 1), *before[1:]]
        try:
            os.pwrite(fd, " ".join(after).encode(), 0)
        except OSError as error:
            after = [str(error)]
        found[path] = [" ".join(after), " ".join(os.pread(fd, 200, 0).decode().split())]
        os.close(fd)
print(json.dumps(found))
"""
OWN = (
    *(f"fs/mqueue/{name}" for name in ("msg_default", "msg_max", "msgsize_default", "msgsize_max", "queues_max")),
    *("auto_msgmni", "msgmax", "msgmnb", "msgmni", "sem", "shm_rmid_forced", "shmall", "shmmax", "shmmni"),
    *("ns_last_pid", "pid_max"),
)
"""What the kernel keeps for each IPC namespace, and for each PID namespace."""
PASSING = "/proc/sys/kernel/ns_last_pid"
"""It changes with each process that anybody starts."""


def of_the_host():
    found = {}
    for name in OWN:
        path = Path("/proc/sys", name if "/" in name else f"kernel/{name}")
        if path.exists():
            found[str(path)] = " ".join(path.read_text().split())
    return found


@pytest.mark.parametrize("user", users())
def test_w1_each_switch_that_can_be_written_is_the_guests_own(user):
    before = of_the_host()
    bounds = {name: getattr(LIMITS, name) for name in LIMITS.__slots__}
    order = {"do": "visit", "tries": {}, "filtered": True, "limits": bounds}
    told = alone(user, {**order, "python": system_python(), "script": FLIP})
    assert told["code"] == 0, told["stderr"]
    written = json.loads(told["stdout"])
    after = of_the_host()
    assert set(written) <= set(before), "a switch that belongs to no namespace of the guest's is open"
    moved = {path for path, (wanted, read) in written.items() if read == wanted}
    assert {"/proc/sys/kernel/msgmni", "/proc/sys/kernel/shmmax"} <= moved  # it does take effect, inside
    assert {p: v for p, v in after.items() if p != PASSING} == {p: v for p, v in before.items() if p != PASSING}
    assert int(after.get(PASSING, 0)) not in range(3_000_000, 3_001_000) or os.getpid() > 2_000_000
