"""The ways to a workspace that this machine offers, each on a work root of its own."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from farm.adapters.memory import MemoryStore
from farm.model import MIB, Overlay, Snapshot
from farm.model import Limits as CellLimits
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.disk import Overlays
from sandbox.spec import Bind, Exit, Limits, SandboxSpec, Stream
from tests.builders.sandbox_rooms import work_root
from tests.builders.worker.farm import a_tar
from worker.staging.copies import FEW, Copies
from worker.staging.copy_trial import Trial
from worker.staging.disks import CellDisks
from worker.staging.ground import CellFolder, Ground
from worker.staging.templates import Template, Templates
from worker.trees.copying import Ownership

XFS = "/usr/sbin/mkfs.xfs"
CAPPED = CellLimits(disk_bytes=8 * MIB, inodes=1000)
_LIMITS = Limits(30.0, 1 << 30, 64, 64 * MIB, 256, 1 << 20, MIB)
MANY = {f"many/{number:03}/file.txt": f"{number}\n" * 20 for number in range(FEW)}
FILES = MANY | {
    "src/a.py": "A = 1\n",
    "src/deep/b.py": "B = 2\n",
    "run.sh": "#!/bin/sh\necho hi\n",
    "large": "x" * 90_000,
}


def ways() -> list[str]:
    """Name what this machine offers; a machine of CI's has to offer overlays."""
    if os.geteuid() != 0:
        assert not os.environ.get("CI"), "overlays are to be tested as root"  # noqa: TID251 (tests have no settings)
        return ["copy"]
    return ["copy", "overlay", "overlay on a disk", *(["reflink"] if Path(XFS).exists() else [])]


@dataclass
class Slot:
    """A slot on a host with one way to a workspace."""

    root: Path
    way: str
    sandbox: Bubblewrap
    ground: Ground

    def __post_init__(self) -> None:
        self.store = MemoryStore()
        self.owner = Ownership(*self.sandbox.owner(0))
        self.templates = Templates(self.ground.templates, self.ground.drafts, self.store.blobs)
        self.copies = Copies(self._find, self.sandbox.close, Trial(self.sandbox, 0))
        self.disks = CellDisks(self.ground.find_disks, self.sandbox.close)
        self.folders: list[CellFolder] = []

    def template(self, overlay: Overlay | None = None) -> Template:
        tree = a_tar(FILES)
        snapshot = Snapshot(commit="0" * 40, tree=self.store.blobs.put(tree), size_bytes=len(tree))
        return self.templates.ready(snapshot, overlay)

    def cell(self) -> CellFolder:
        """Give a cell its workspace, and assert that it was made in the way that is to be tested."""
        template = self.template()
        folder = self.ground.cell(self.owner)
        disk = self.disks.make(CAPPED, self.owner) if self.way == "overlay on a disk" else None
        self.folders.append(folder)
        folder.prepare(disk)
        told = self.copies.make(template, folder)
        assert told.startswith(self.way.partition(" ")[0]), told
        return folder

    def run(self, folder: CellFolder, text: str, place: Path | None = None) -> str:
        """Run a guest's Python in the workspace, to a good end."""
        said = bytearray()

        def sink(_stream: Stream, chunk: bytes) -> None:
            said.extend(chunk)

        bind = Bind(place or folder.workspace, "/cell/ws", writable=True)
        spec = SandboxSpec(("python3", "-c", text), (bind,), _LIMITS, "/cell/ws")
        end: Exit = self.sandbox.run(spec, sink, lambda: False)
        assert end.code == 0, said.decode()
        return said.decode()

    def _find(self) -> Overlays:
        if not self.way.startswith("overlay"):
            raise OSError("not on this host")
        return self.ground.find_overlays()

    def close(self) -> None:
        while self.folders:
            self.folders.pop().remove()
        self.templates.release()
        self.ground.close()
        self.sandbox.close()


@contextmanager
def a_slot(way: str) -> Iterator[Slot]:
    """Give a slot whose host offers this way and no better one."""
    with ExitStack() as undo:
        root = work_root() / f"slot-{secrets.token_hex(4)}"
        root.mkdir(mode=0o711)
        if way == "reflink":
            undo.enter_context(_xfs(root))
        sandbox = Bubblewrap(work_root() / "work-copies")  # its programs are compiled once
        slot = Slot(root, way, sandbox, Ground(root))
        undo.callback(slot.close)
        yield slot


@contextmanager
def _xfs(place: Path) -> Iterator[None]:
    image = place.with_name(f"{place.name}.xfs")
    with image.open("wb") as file:
        file.truncate(320 * MIB)
    subprocess.run((XFS, "-q", str(image)), check=True)
    subprocess.run(("mount", "-o", "loop", str(image), str(place)), check=True)
    try:
        place.chmod(0o711)
        yield
    finally:
        subprocess.run(("umount", str(place)), check=True)
        image.unlink()


def state(folder: Path) -> dict[str, tuple[int, int, int, int, list[str], bytes]]:
    """All of a folder that a change could show in, its .git included."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_uid,
            path.lstat().st_nlink,
            path.lstat().st_mtime_ns,
            os.listxattr(path, follow_symlinks=False),
            path.read_bytes() if path.is_file() and not path.is_symlink() else b"",
        )
        for path in sorted((folder, *folder.rglob("*")))
    }
