"""What a cell's workspace costs, in each way that this host offers, beside a clone that is sanitised for every cell.

    sudo python ops/bench/workspaces.py [--files 2000] [--mib 30] [--rounds 3] [--json]

The ways take turns, so that whatever else the machine does disturbs all alike. A clone is sanitised as a template is:
hidden files out, one parentless commit, every other ref, reflog and object gone. The bars are on making a workspace.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from farm.adapters.memory import MemoryStore
from farm.model import Limits, RepositorySpec, Snapshot
from farm.planning.repository import pack_repository
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.disk import Overlays
from worker.staging.copies import Copies
from worker.staging.copy_trial import Trial
from worker.staging.disks import CellDisks
from worker.staging.ground import CellFolder, Ground
from worker.staging.templates import Template, Templates
from worker.trees.copying import Ownership
from worker.trees.removing import remove_tree

_COMMITS = 8
_HIDDEN = "tests/hidden"
_CAPPED = Limits(disk_bytes=1 << 30, inodes=65_536)
_CLONE = "clone and sanitise"
_BARS = {"overlay": 20.0, "overlay on a disk": 20.0, "reflink": 2.0, "copy": 2.0}
_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    **{f"GIT_{who}_DATE": "2000-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")},
}


@dataclass(frozen=True, slots=True)
class _Times:
    """Milliseconds by way."""

    make: dict[str, list[float]] = field(default_factory=dict)
    remove: dict[str, list[float]] = field(default_factory=dict)


@contextmanager
def _timed(times: dict[str, list[float]], way: str) -> Iterator[None]:
    before = time.perf_counter()
    yield
    times.setdefault(way, []).append((time.perf_counter() - before) * 1000)


def _git(place: Path, *words: str) -> str:
    done = subprocess.run(("git", "-C", str(place), *words), env=_ENV, capture_output=True, check=True)  # noqa: S603, S607 (the bench's own)
    return done.stdout.decode().strip()


def _source(place: Path, files: int, mib: int) -> None:
    """Make a repository with a past: each commit rewrites an eighth of the files."""
    chance = random.Random(7)  # noqa: S311 (the same files every time)
    words = [chance.randbytes(4).hex() for _ in range(4000)]
    size = (mib << 20) // files
    paths = [place / f"package{number % 40}" / f"module{number}.py" for number in range(files - 20)]
    paths += [place / _HIDDEN / f"test{number}.py" for number in range(20)]
    place.mkdir()
    _git(place, "init", "--quiet", "--initial-branch=main")
    for commit in range(_COMMITS):
        for path in paths if commit == 0 else chance.sample(paths, files // _COMMITS):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(chance.choices(words, k=size // 9)))
        _git(place, "add", "--all")
        _git(place, "commit", "--quiet", "--message", f"commit {commit}")
    _git(place, "-c", "pack.window=0", "repack", "-adq")


def _clone(source: Path, target: Path) -> None:
    """Clone and sanitise, as it is done where there are no templates."""
    _git(source, "clone", "--quiet", "--no-local", "--no-hardlinks", "--no-tags", str(source), str(target))
    _git(target, "rm", "-r", "--quiet", _HIDDEN)
    commit = _git(target, "commit-tree", "-m", "workspace", _git(target, "write-tree"))
    _git(target, "reset", "--quiet", "--hard", commit)
    _git(target, "remote", "remove", "origin")
    _git(target, "reflog", "expire", "--expire=now", "--all")
    _git(target, "gc", "--quiet", "--prune=now")


class _Slot:
    """A slot on a work root of its own; it has overlays where `find` gives them."""

    def __init__(self, root: Path, *, has_overlays: bool, has_disk: bool) -> None:
        root.mkdir(mode=0o711, exist_ok=True)
        self.store = MemoryStore()
        self.sandbox = Bubblewrap(root.parent / "sandbox")
        self.ground = Ground(root)
        self.owner = Ownership(*self.sandbox.owner(0))
        self.templates = Templates(self.ground.templates, self.ground.drafts, self.store.blobs)
        self._limits = _CAPPED if has_disk else Limits()
        self._disks = CellDisks(self.ground.find_disks, self.sandbox.close)
        find = self.ground.find_overlays if has_overlays else _nothing
        self._copies = Copies(find, self.sandbox.close, Trial(self.sandbox, 0))

    def template(self, packed: Path) -> Template:
        tree = self.store.blobs.put(packed.read_bytes())
        return self.templates.ready(Snapshot(commit="0" * 40, tree=tree, size_bytes=packed.stat().st_size), None)

    def make(self, template: Template) -> tuple[CellFolder, str]:
        folder = self.ground.cell(self.owner)
        folder.prepare(self._disks.make(self._limits, self.owner))
        return folder, self._copies.make(template, folder)

    def close(self) -> None:
        self.templates.release()
        self.ground.close()
        self.sandbox.close()


def _nothing() -> Overlays:
    raise OSError("not asked for")


@contextmanager
def _xfs(place: Path) -> Iterator[Path]:
    """Mount a file system that shares bytes, where this host can make one."""
    image = place.with_suffix(".image")
    with image.open("wb") as file:
        file.truncate(1 << 30)
    subprocess.run(("mkfs.xfs", "-q", str(image)), check=True)  # noqa: S603, S607 (the bench's own)
    place.mkdir()
    subprocess.run(("mount", "-o", "loop", str(image), str(place)), check=True)  # noqa: S603, S607 (as above)
    try:
        place.chmod(0o711)
        yield place
    finally:
        subprocess.run(("umount", str(place)), check=True)  # noqa: S603, S607 (as above)


def _slots(root: Path, undo: ExitStack) -> dict[str, _Slot]:
    roots = {"copy": root / "copy"}
    if os.geteuid() == 0:
        roots |= {"overlay": root / "overlay", "overlay on a disk": root / "disk"}
        if shutil.which("mkfs.xfs"):
            roots["reflink"] = undo.enter_context(_xfs(root / "xfs"))
    slots = {}
    for way, place in roots.items():
        slots[way] = _Slot(place, has_overlays=way.startswith("overlay"), has_disk=way.endswith("disk"))
        undo.callback(slots[way].close)
    return slots


def _measured(root: Path, files: int, mib: int, rounds: int) -> _Times:
    times = _Times()
    _source(root / "source", files, mib)
    spec = RepositorySpec(path=str(root / "source"), hidden=(f"{_HIDDEN}/**",))
    pack_repository(spec, root, root / "packed.tar")
    with ExitStack() as undo:
        made: dict[str, tuple[_Slot, Template]] = {}
        for way, slot in _slots(root, undo).items():
            with _timed(times.make, "template, once a host"):
                template = slot.template(root / "packed.tar")
            folder, told = slot.make(template)  # the first one finds out what is to be had
            folder.remove()
            if told.startswith(way.partition(" ")[0]):
                made[way] = (slot, template)
            else:
                print(f"{way}: not to be had here: {told}", file=sys.stderr)
        for _ in range(rounds):
            with _timed(times.make, _CLONE):
                _clone(root / "source", root / "clone")
            with _timed(times.remove, _CLONE):
                remove_tree(root / "clone")
            for way, (slot, template) in made.items():
                with _timed(times.make, way):
                    folder, _ = slot.make(template)
                with _timed(times.remove, way):
                    folder.remove()
    return times


def _shown(times: _Times) -> int:
    clone, missed = statistics.median(times.make[_CLONE]), []
    for way, took in times.make.items():
        median, removing = statistics.median(took), times.remove.get(way)
        gone = "" if removing is None else f"   remove p50 {statistics.median(removing):8.2f} ms"
        bar = _BARS.get(way)
        ratio = "" if bar is None else f"   {clone / median:7.1f} times faster (at least {bar:.0f})"
        print(f"{way:<22} make p50 {median:9.2f} ms (from {min(took):.2f} to {max(took):.2f}){gone}{ratio}")
        if bar is not None and clone / median < bar:
            missed.append(way)
    return 1 if missed else 0


def main() -> int:
    """Print the figures; 1 when a way misses its bar."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--mib", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="workspaces-bench-", dir="/var/tmp") as place:
        root = Path(place).resolve()
        root.chmod(0o711)
        times = _measured(root, chosen.files, chosen.mib, chosen.rounds)
    if chosen.json:
        print(json.dumps({"make_ms": times.make, "remove_ms": times.remove}))
        return 0
    return _shown(times)


if __name__ == "__main__":
    sys.exit(main())
