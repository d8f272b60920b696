"""What a disk of a fixed size costs: making and removing it, and a run on it beside one without.

    sudo python ops/bench/disk.py [ROUNDS]

The columns take turns, so that whatever else the machine does disturbs all alike. The bar is on a cell's whole cost
with its size's image premade: make and remove.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox import disk
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.disk.images import Images
from sandbox.spec import Bind, DiskSize, Limits, SandboxSpec

_SIZES = (DiskSize(256 << 20, 16_384), DiskSize(2 << 30, 200_000), DiskSize(20 << 30, 1_000_000))
_WRITTEN = 512 << 20
_MOST_MS = 15.0
_LIMITS = Limits(
    wall_s=60.0,
    memory_bytes=1 << 30,
    processes=64,
    file_size_bytes=1 << 30,
    open_files=256,
    output_bytes=1 << 16,
    tmp_bytes=1 << 26,
)


class _Times(dict[str, list[float]]):
    """Milliseconds by column."""

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        before = time.perf_counter()
        yield
        self.setdefault(name, []).append((time.perf_counter() - before) * 1000)

    def show(self) -> None:
        for name, took in self.items():
            ordered = sorted(took)
            late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
            print(f"{name:<36} p50 {statistics.median(ordered):8.2f} ms   p99 {late:8.2f} ms   n {len(ordered)}")


def _name(size: DiskSize) -> str:
    return f"{size.size_bytes >> 20} MiB, {size.inodes} inodes"


def _true(folder: Path, box: Bubblewrap) -> SandboxSpec:
    folder.mkdir(exist_ok=True)
    os.chown(folder, *box.owner(0))
    return SandboxSpec(("/usr/bin/true",), (Bind(folder, "/cell/ws", writable=True),), _LIMITS, "/")


def _run(run: Callable[..., object], spec: SandboxSpec) -> None:
    run(spec, lambda *_: None, lambda: False)


def _round(times: _Times, disks: disk.Disks, box: Bubblewrap, plain: Path) -> None:
    for size in _SIZES:
        with times.of(f"make {_name(size)}"):
            made = disks.make(size, box.owner(0))
        with times.of(f"remove {_name(size)}"):
            made.remove()
    made = disks.make(_SIZES[1], box.owner(0))
    spec = _true(made.place / "ws", box)
    with times.of("run of true on a disk"):
        _run(lambda *words: made.run(box, *words), spec)
    with times.of("remove after that run"):
        made.remove()
    spec = _true(plain, box)
    with times.of("run of true without"):
        _run(box.run, spec)


def _written(times: _Times, disks: disk.Disks) -> None:
    """Remove a disk with much on it that has not reached the host's yet."""
    made = disks.make(_SIZES[1], (0, 0))
    with times.of(f"write {_WRITTEN >> 20} MiB"), (made.place / "big").open("wb") as file:
        for _ in range(_WRITTEN >> 20):
            file.write(bytes(1 << 20))
    with times.of("remove after that"):
        made.remove()


def _premade(times: _Times, images: Path) -> None:
    for size in _SIZES:
        with times.of(f"first image of {_name(size)}"), Images(images).copy(size):
            pass


def main(rounds: int) -> int:
    """Print the figures; 1 when a disk costs more than it may."""
    with tempfile.TemporaryDirectory(prefix="disk-bench-", dir="/var/tmp") as place:
        root = Path(place)
        root.chmod(0o711)
        found = disk.find(root / "disks", root / "images")
        if found.disks is None:
            print(f"disk and inodes are not capped here: {found.reason}")
            return 0
        box, times = Bubblewrap(root / "work"), _Times()
        try:
            _premade(times, root / "images")
            for _ in range(rounds):
                _round(times, found.disks, box, root / "plain")
            for _ in range(3):
                _written(times, found.disks)
        finally:
            box.close()
            found.disks.close()
    times.show()
    costs = [statistics.median(times[f"{deed} {_name(_SIZES[1])}"]) for deed in ("make", "remove")]
    print(f"make and remove, by medians: {sum(costs):.2f} ms (at most {_MOST_MS:.2f} ms)")
    return 0 if sum(costs) <= _MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main(*[int(word) for word in sys.argv[1:2]] or [50]))
