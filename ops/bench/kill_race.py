"""Kill a worker at a random moment after it started a sandbox, many times, and count what outlives it.

    python ops/bench/kill_race.py [COUNT [LATEST_MS]]

Half of the workers start their spawner in that very moment, half have it already. Ends with 1 when anything survived.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import Limits, SandboxSpec

_GONE_S = 2.0
_LIMITS = Limits(
    wall_s=600.0,
    memory_bytes=1 << 30,
    processes=64,
    file_size_bytes=1 << 20,
    open_files=64,
    output_bytes=1 << 16,
    tmp_bytes=1 << 20,
)
_TREE = "trap '' TERM HUP INT; (setsid sleep 600 &); (setsid sh -c 'sleep 600 & sleep 600' &); sleep 600"


def _spec(text: str) -> SandboxSpec:
    return SandboxSpec(argv=("/bin/sh", "-c", text), binds=(), limits=_LIMITS, cwd="/")


def _is_living(mark: str) -> bool:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = Path(entry.path, "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                return True
    return False


def _work(box: Bubblewrap, text: str, *, is_warm: bool, started: int) -> None:
    def run(words: str) -> None:
        box.run(_spec(words), lambda *_: None, lambda: False)

    if is_warm:
        run("exit 0")
    os.write(started, b"x")
    run(text)


def _survives(box: Bubblewrap, work_root: Path, wait_s: float, *, is_warm: bool) -> bool:
    """Start a worker, kill it `wait_s` after it began to start a sandbox, and tell whether anything is left."""
    read, write = os.pipe()
    mark = f"race-{random.getrandbits(60):x}"
    worker = os.fork()
    if worker == 0:
        try:
            _work(box, f": {mark}; {_TREE}", is_warm=is_warm, started=write)
        finally:
            os._exit(1)
    os.close(write)
    os.read(read, 1)
    os.close(read)
    time.sleep(wait_s)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    # The spawner and bubblewrap name the work root or the mark on their command lines, the guest the mark.
    return not _is_soon(lambda: not _is_living(mark) and not _is_living(str(work_root)))


def _is_soon(claim: Callable[[], bool]) -> bool:
    limit = time.monotonic() + _GONE_S
    while not claim():
        if time.monotonic() > limit:
            return False
        time.sleep(0.002)
    return True


def race(count: int, latest_s: float) -> int:
    """Run the race `count` times and give the number of times that something survived."""
    with tempfile.TemporaryDirectory(prefix="kill-race-") as place:
        root = Path(place)
        root.chmod(0o711)
        box = Bubblewrap(root / "work")
        chance = random.Random(count)  # noqa: S311 (moments, not secrets)
        return sum(_survives(box, root, chance.uniform(0, latest_s), is_warm=bool(turn % 2)) for turn in range(count))


if __name__ == "__main__":
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    latest_ms = float(sys.argv[2]) if len(sys.argv) > 2 else 50.0  # noqa: PLR2004 (the second argument)
    survived = race(most, latest_ms / 1000)
    print(f"{survived} of {most} workers killed within {latest_ms:g} ms of a start left something alive")
    sys.exit(1 if survived else 0)
