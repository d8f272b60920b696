"""A guest that fills its disk, or uses its inodes up, hurts itself alone; the same without a disk is the control."""

import os
from dataclasses import replace

import pytest

from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import Bind, DiskSize, SandboxSpec
from sandbox.testing import LIMITS, Heard
from tests.builders.disks import some_disks
from tests.builders.sandbox_rooms import system_python, work_root

SIZE = DiskSize(8 << 20, 256)
ROOMY = replace(LIMITS, file_size_bytes=64 << 20, memory_bytes=256 << 20)
PLACES = {"ws": "/cell/ws", "home": "/home/agent", "tmp": "/tmp", "out": "/cell/out"}  # noqa: S108 (inside)
GUEST = """
import errno, os, sys
place, deed = sys.argv[1:]
def bytes_():
    with open(place + "/big", "wb", buffering=0) as file:
        for _ in range(16 << 4):
            file.write(bytes(1 << 16))
def sparse():
    with open(place + "/holes", "wb") as file:
        os.truncate(file.fileno(), 60 << 20)
        for at in range(0, 60 << 20, 1 << 16):
            os.pwrite(file.fileno(), b"x" * 4096 * 4, at)
def reserve():
    with open(place + "/reserved", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 16 << 20)
def files():
    for number in range(512):
        open(f"{place}/{number}", "x").close()
def folders():
    for number in range(512):
        os.mkdir(f"{place}/{number}")
def links():
    for number in range(512):
        os.symlink("nowhere", f"{place}/{number}")
try:
    {"bytes": bytes_, "sparse": sparse, "reserve": reserve, "files": files, "folders": folders, "links": links}[deed]()
except OSError as error:
    print(errno.errorcode[error.errno])
else:
    print("done")
"""
DEEDS = {
    "bytes": "disk",
    "sparse": "disk",
    "reserve": "disk",
    "files": "inodes",
    "folders": "inodes",
    "links": "inodes",
}


@pytest.fixture(scope="module")
def disks():
    with some_disks() as made:
        yield made


@pytest.fixture(scope="module")
def box(disks):
    del disks
    backend = Bubblewrap(work_root() / "work-abused-disks")
    yield backend
    backend.close()


@pytest.fixture
def disk(disks, box):
    made = disks.make(SIZE, box.owner(0))
    yield made
    made.remove()


@pytest.fixture
def plain(box):
    folder = work_root() / f"plain-{os.urandom(4).hex()}"
    folder.mkdir(mode=0o700)
    os.chown(folder, *box.owner(0))
    return folder


def binds(below, box):
    made = []
    for name, target in PLACES.items():
        (below / name).mkdir(mode=0o700)
        os.chown(below / name, *box.owner(0))
        made.append(Bind(below / name, target, writable=True))
    return tuple(made)


def visit(deed, place, its_binds):
    argv = (system_python(), "-I", "-S", "-B", "-c", GUEST, place, deed)
    return SandboxSpec(argv=argv, binds=its_binds, limits=ROOMY, cwd="/")


def attempt(run, spec):
    heard = Heard()
    exit_ = run(spec, heard, lambda: False)
    assert exit_.code == 0, heard.stderr
    return exit_, heard.stdout.decode().strip()


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("place", PLACES.values())
def test_a_guest_that_uses_its_disk_up_gets_enospc_and_the_limit_is_named(disk, box, plain, deed, place):
    def on_disk(spec, sink, stop):
        return disk.run(box, spec, sink, stop)

    exit_, said = attempt(on_disk, visit(deed, place, binds(disk.place, box)))
    assert said == "ENOSPC"
    assert "".join(exit_.limits_touched) == DEEDS[deed]
    assert exit_.peak_disk_bytes <= SIZE.size_bytes * 1.02 + (64 << 10)
    assert exit_.peak_inodes <= SIZE.inodes * 1.02 + 64
    assert attempt(box.run, visit(deed, place, binds(plain, box)))[1] == "done"


def test_another_guest_and_the_host_write_on_while_one_disk_is_full(disks, disk, box):
    spec = visit("bytes", PLACES["ws"], binds(disk.place, box))
    assert attempt(box.run, spec)[1] == "ENOSPC"
    other = disks.make(SIZE, box.owner(0))
    exit_, said = attempt(box.run, visit("bytes", PLACES["ws"], binds(other.place, box)))
    assert said == "ENOSPC"  # its own, from its own first byte on
    assert (other.place / "ws" / "big").stat().st_size > SIZE.size_bytes * 0.98
    assert exit_.code == 0
    other.remove()
    assert (work_root() / "written").write_bytes(bytes(SIZE.size_bytes * 2)) == SIZE.size_bytes * 2
    (work_root() / "written").unlink()


def test_no_device_and_no_setuid_program_of_the_host_works_on_a_disk(disk, box):
    """Made by root from outside, which a guest can't: even then the mount takes their power away."""
    made = binds(disk.place, box)
    os.mknod(disk.place / "ws" / "null", 0o20666, os.makedev(1, 3))
    spec = visit("bytes", "/cell/ws", made)
    text = "import os\ntry:\n    os.open('/cell/ws/null', os.O_RDWR)\nexcept OSError as error:\n    print(error.errno)"
    exit_, said = attempt(box.run, replace(spec, argv=(system_python(), "-I", "-S", "-c", text)))
    assert (exit_.code, said) == (0, "13")
    assert os.statvfs(disk.place).f_flag & (os.ST_NOSUID | os.ST_NODEV) == os.ST_NOSUID | os.ST_NODEV
    with pytest.raises(PermissionError):
        os.open(disk.place / "ws" / "null", os.O_RDWR)
