"""What the benches share: processes that end with the block, and CPU seconds that count every descendant."""

import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WAIT_S = 60.0
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """Elapsed seconds, and user and system seconds of all processes involved."""

    wall_s: float
    cpu_s: float

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.wall_s - other.wall_s, self.cpu_s - other.cpu_s)

    def per(self, count: int) -> "Cost":
        return Cost(self.wall_s / count, self.cpu_s / count)


def descendants_cpu_s() -> float:
    """Count the CPU seconds of our children that have ended and were waited for, and of theirs, and so on."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own_cpu_s() -> float:
    """Count this process's own CPU seconds."""
    return time.process_time()


def process_cpu_s(pid: int) -> float:
    """Count the CPU seconds of a live process, its ended children included."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) * _TICK_S


def cost_of(work: Callable[[], None]) -> Cost:
    """Run `work` and give what it and all that it waited for used."""
    cpu, wall = own_cpu_s() + descendants_cpu_s(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - wall, own_cpu_s() + descendants_cpu_s() - cpu)


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Poll until `is_so`; raise TimeoutError naming `what` after a minute."""
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen within {WAIT_S:.0f} s")
        time.sleep(0.005)


@contextmanager
def running(argv: Sequence[str], env: Mapping[str, str], log: Path) -> Iterator[int]:
    """Run a program for the length of the block and yield its pid; its end is waited for, so its CPU is counted."""
    with log.open("ab") as out:
        child = subprocess.Popen(argv, env=dict(env), stdout=out, stderr=out)  # noqa: S603 (the bench's own programs)
    try:
        yield child.pid
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(timeout=WAIT_S)


def free_port() -> int:
    """Find a TCP port of the loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """Say whether something accepts connections on the loopback's port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
