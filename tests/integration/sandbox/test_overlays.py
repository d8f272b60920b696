"""Overlays on the real kernel, and what a guest can do to them."""

import os
import secrets
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.disk import Overlays, clear
from sandbox.errors import SandboxError
from sandbox.spec import Bind, DiskSize, ExitKind, SandboxSpec
from sandbox.testing import LIMITS, Heard
from tests.builders.disks import mounts, some_disks
from tests.builders.overlays import some_overlays
from tests.builders.sandbox_rooms import work_root

MIB = 1 << 20
ROOMY = replace(LIMITS, file_size_bytes=64 * MIB, memory_bytes=256 * MIB)


@pytest.fixture(scope="module")
def overlays():
    with some_overlays() as made:
        yield made


@pytest.fixture(scope="module")
def disks():
    with some_disks() as made:
        yield made


@pytest.fixture(scope="module")
def box(overlays, disks):
    """A backend that is younger than the places of both."""
    del overlays, disks
    backend = Bubblewrap(work_root() / "work-overlays")
    yield backend
    backend.close()


@pytest.fixture
def lower():
    folder = work_root() / f"lower-{secrets.token_hex(4)}"
    (folder / "dir" / "deep").mkdir(parents=True)
    for name in ("a", "b", "dir/c", "dir/deep/d"):
        (folder / name).write_text(f"{name} of the lower one\n")
    return folder


@pytest.fixture
def lay(overlays, box, lower):
    """Lay new overlays over the lower folder, and take them away at the end."""

    def lay(below=lower, on=None):
        layers = (on or work_root()) / f"layers-{secrets.token_hex(4)}"
        lay.made.append(overlays.make(below, layers, box.owner(0)))
        return lay.made[-1]

    lay.made = []
    yield lay
    for one in reversed(lay.made):
        one.remove()


def run(box, place, text):
    heard = Heard()
    bind = Bind(place, "/cell/ws", writable=True)
    exit_ = box.run(SandboxSpec(("python3", "-c", text), (bind,), ROOMY, "/cell/ws"), heard, lambda: False)
    return exit_, (heard.stdout + heard.stderr).decode()


def state(folder):
    """All that a folder holds, as it would be found by whoever is to copy it."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.lstat().st_uid,
            path.lstat().st_mtime_ns,
            os.listxattr(path, follow_symlinks=False),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


DEEDS = {
    "writes": "import os\nopen('a','a').write('more')\nos.truncate('b', 0)\nopen('new','w').write('n')",
    "removes": "import os, shutil\nos.unlink('a')\nshutil.rmtree('dir')\nos.mkdir('dir')\nopen('dir/c','w').write('n')",
    "renames": "import os\nos.rename('dir','moved')\nos.rename('a','b')\nos.mkdir('dir')",
    "links": "import os\nos.link('a','hard')\nopen('hard','a').write('x')\nos.symlink('/etc/passwd','s')",
    "modes": "import os\nos.chmod('a',0o4755)\nos.chmod('dir',0)\nos.utime('b',(1,1))",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_a_guest_does_is_seen_by_nobody_else_and_leaves_the_lower_folder_as_it_was(box, lay, lower, deed) -> None:
    before = state(lower)
    one, other = lay(), lay()
    exit_, said = run(box, one.place, DEEDS[deed])
    assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 0), said
    assert state(lower) == before
    assert {name: body[-1] for name, body in state(other.place).items()} == {
        name: body[-1] for name, body in before.items()
    }
    assert state(one.place) != state(other.place)


def test_a_folder_of_the_lower_one_is_renamed_as_anywhere(box, lay) -> None:
    one = lay()
    exit_, said = run(box, one.place, DEEDS["renames"])
    assert exit_.code == 0, said
    assert (one.place / "moved/deep/d").read_text() == "dir/deep/d of the lower one\n"
    assert list((one.place / "dir").iterdir()) == []
    assert (one.place / "b").read_text() == "a of the lower one\n"


def test_all_belongs_to_the_slots_user_and_numbers_are_unique_and_stay(box, lay) -> None:
    one = lay()
    uid, _ = box.owner(0)
    files = [path for path in one.place.rglob("*") if path.is_file()]
    assert {path.stat().st_uid for path in one.place.rglob("*")} == {uid}
    numbers = [path.stat().st_ino for path in files]
    assert len(set(numbers)) == len(numbers)
    assert {path.stat().st_dev for path in one.place.rglob("*")} == {one.place.stat().st_dev}
    run(box, one.place, "for name in ('a', 'dir/c'): open(name, 'a').write('x')")
    assert [path.stat().st_ino for path in files] == numbers


ATTEMPTS = """
import os, errno
def tried(deed):
    try:
        deed()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
print(tried(lambda: os.setxattr("dir", "trusted.overlay.opaque", b"y")))
print(tried(lambda: os.setxattr("dir", "trusted.overlay.redirect", b"/../../etc")))
print(tried(lambda: os.setxattr("a", "user.overlay.opaque", b"y")))
print(tried(lambda: os.mknod("white", 0o020644, 0)))
print(tried(lambda: os.mknod("null", 0o020644, os.makedev(1, 3))))
print([name for name in os.listxattr("dir") if name.startswith("trusted")])
print(sorted(os.listdir("dir")))
"""


def test_a_guest_cannot_write_what_overlays_mean_to_the_kernel(box, lay, lower) -> None:
    one, before = lay(), state(lower)
    exit_, said = run(box, one.place, ATTEMPTS)
    assert exit_.code == 0, said
    opaque, redirect, _own, white, device, seen, held = said.splitlines()
    assert (opaque, redirect) == ("EPERM", "EPERM")
    assert (white, device) == ("EPERM", "EPERM")
    assert seen == "[]"
    assert held == "['c', 'deep']"
    assert state(lower) == before


def test_a_guests_list_of_mounts_tells_no_place_of_the_host(box, lay, lower) -> None:
    one = lay()
    _, said = run(box, one.place, "print(open('/proc/self/mountinfo').read())")
    line = next(line for line in said.splitlines() if " /cell/ws " in line)
    assert "nosuid,nodev" in line
    assert str(lower) not in line
    assert one.layers.name not in line
    assert str(work_root()) not in line.replace(str(one.place), "")
    assert "lowerdir=/proc/self/fd/" in line


def test_a_disk_holds_what_changes_and_not_what_is_below(box, lay, disks, lower) -> None:
    (lower / "large").write_bytes(b"x" * 12 * MIB)
    small = disks.make(DiskSize(8 * MIB, 128), box.owner(0))
    try:
        one = lay(on=small.place)
        exit_, said = run(box, one.place, "open('new', 'wb').write(b'y' * 4 * 2**20)")
        assert exit_.code == 0, said
        full, _ = run(box, one.place, "open('large', 'ab').write(b'y')")
        assert full.code == 1  # it would have to be copied up
        assert (lower / "large").stat().st_size == 12 * MIB
    finally:
        for made in lay.made:
            made.remove()
        lay.made.clear()
        small.remove()


def test_an_overlay_over_an_overlay_leaves_that_as_it_was(box, lay) -> None:
    one = lay()
    run(box, one.place, DEEDS["writes"])
    before = state(one.place)
    two = lay(one.place)
    assert {name: body[-1] for name, body in state(two.place).items()} == {
        name: body[-1] for name, body in before.items()
    }
    exit_, said = run(box, two.place, "import os\nopen('a','a').write('again')\nos.unlink('new')")
    assert exit_.code == 0, said
    assert state(one.place) == before


def test_nothing_stays_mounted_and_no_descriptor_open(box, overlays, lower) -> None:
    def held():
        return mounts(work_root()), len(list(Path("/proc/self/fd").iterdir()))

    def make():
        overlays.make(lower, work_root() / f"layers-{secrets.token_hex(4)}", box.owner(0)).remove()

    make()  # the namespace of the slot's ids stays
    before = held()
    make()
    assert held() == before


def test_what_no_overlay_can_be_laid_on_is_told_and_nothing_stays(box, overlays, lower) -> None:
    before = mounts(work_root())
    with pytest.raises(SandboxError, match="no overlay could be mounted"):
        overlays.make(lower, Path("/proc/nowhere"), box.owner(0))
    with pytest.raises(SandboxError, match="no overlay could be mounted"):
        overlays.make(lower / "a", work_root() / f"layers-{secrets.token_hex(4)}", box.owner(0))
    assert mounts(work_root()) == before


def test_whoever_clears_takes_what_a_dead_process_left(lower) -> None:
    top = work_root() / f"overlays-{secrets.token_hex(4)}"
    overlays = Overlays(top)
    overlays.make(lower, work_root() / f"layers-{secrets.token_hex(4)}", (4242, 4242))
    overlays.close()
    assert not top.exists()
    assert mounts(top) == []


_MAKING = """
import sys
from pathlib import Path
from sandbox.disk import Overlays, clear
top, lower, layers = (Path(word) for word in sys.argv[1:4])
overlays = Overlays(top)
kept = overlays.make(lower, layers / "kept", (4242, 4242))
print("ready", flush=True)
for number in range(100000):
    overlays.make(lower, layers / str(number), (4242, 4242)).remove()
"""


@pytest.mark.parametrize("after_ms", [0, 3, 7])
def test_wherever_a_process_is_killed_all_that_it_mounted_can_be_cleared(overlays, lower, after_ms) -> None:
    del overlays  # it skips where only root could
    top, layers = work_root() / f"overlays-{secrets.token_hex(4)}", work_root() / f"layers-{secrets.token_hex(4)}"
    layers.mkdir()
    words = (sys.executable, "-c", _MAKING, str(top), str(lower), str(layers))
    with subprocess.Popen(words, stdout=subprocess.PIPE) as maker:
        assert maker.stdout is not None
        assert maker.stdout.readline() == b"ready\n"
        is_over = threading.Event()
        is_over.wait(after_ms / 1000)
        maker.kill()
    assert len(mounts(top)) >= 2
    clear(top)
    assert (mounts(top), top.exists()) == ([], False)
