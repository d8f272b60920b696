"""How often a file from outside gets out, while a guest swaps names as fast as it can.

    python ops/bench/swap_race.py [takes]

Two races: a file against a link to a secret, and a folder against a link to its folder, exchanged in one call.
The naive way (look with lstat, then open by path) runs until its first leak, to show that the race is on; then the
collector takes the folder as often as asked, 5,000 times if nothing is said. Ends with 1 when the collector leaked.
"""

import ctypes
import multiprocessing
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from worker.collect.outputs import OutputCaps, take_outputs

_SECRET = b"secret"
_AT_FDCWD = -100
_EXCHANGE = 2
_NAIVE_LIMIT = 500_000


def _swap(out: Path) -> None:
    """Exchange the two names for ever: one system call each."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = [os.fsencode(out / name) for name in ("x", "link")]
    while True:
        libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)


def _file_and_link(out: Path, outside: Path) -> Path:
    (out / "x").write_bytes(b"mine")
    (out / "link").symlink_to(outside / "file")
    return out / "x"


def _folder_and_link(out: Path, outside: Path) -> Path:
    (out / "x").mkdir()
    (out / "x/file").write_bytes(b"mine")
    (out / "link").symlink_to(outside)
    return out / "x/file"


def _naive(path: Path) -> bytes:
    """Look at every step, then open: what must not be done."""
    try:
        if all(not stat.S_ISLNK(place.lstat().st_mode) for place in (path.parent, path)):
            return path.read_bytes()
    except OSError:
        pass
    return b""


def _taken(out: Path) -> list[bytes]:
    return [file.body for file in take_outputs(out, OutputCaps()).taken]


def _race(name: str, lay: Callable[[Path, Path], Path], takes: int) -> int:
    with tempfile.TemporaryDirectory() as place:
        out, outside = Path(place, "out"), Path(place, "outside")
        out.mkdir()
        outside.mkdir()
        (outside / "file").write_bytes(_SECRET)
        target = lay(out, outside)
        swapper = multiprocessing.get_context("fork").Process(target=_swap, args=(out,), daemon=True)
        swapper.start()
        try:
            first = next((n for n in range(1, _NAIVE_LIMIT) if _naive(target) == _SECRET), None)
            bodies = [_taken(out) for _ in range(takes)]
        finally:
            swapper.kill()
            swapper.join()
    leaks = sum(_SECRET in found for found in bodies)
    mine = sum(b"mine" in found for found in bodies)
    print(f"{name}: naive first leak at {first}; collector {leaks} leaks of {takes}, {mine} with the guest's own file")
    return leaks + (first is None)


def main() -> int:
    """Run both races."""
    takes = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    found = _race("file and link", _file_and_link, takes) + _race("folder and link", _folder_and_link, takes)
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
