"""Disks of a fixed size on the real kernel."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import disk
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.errors import SandboxRefusedError
from sandbox.spec import TMP, Bind, DiskSize, ExitKind, ToolRoom
from sandbox.testing import LIMITS, Heard, script
from tests.builders.disks import images, loops, mounts, some_disks
from tests.builders.sandbox_rooms import alone, work_root
from tests.builders.sandbox_trees import is_soon

MIB = 1 << 20
SMALL = DiskSize(8 * MIB, 128)
ROOMY = replace(LIMITS, file_size_bytes=64 * MIB, memory_bytes=256 * MIB)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")


@pytest.fixture(scope="module")
def disks():
    with some_disks() as made:
        yield made


@pytest.fixture(scope="module")
def box(disks):
    """A backend that is younger than the disks' place."""
    del disks
    backend = Bubblewrap(work_root() / "work-disks")
    yield backend
    backend.close()


@pytest.fixture
def small(disks, box):
    made = disks.make(SMALL, box.owner(0))
    yield made
    made.remove()


def guest_folder(on, box, name="ws"):
    folder = on.place / name
    folder.mkdir()
    os.chown(folder, *box.owner(0))
    return folder


def run(box, on, text, *binds):
    heard = Heard()
    exit_ = on.run(box, replace(script(text, *binds), limits=ROOMY), heard, lambda: False)
    return exit_, heard.stdout.decode()


@pytest.mark.parametrize("size", [DiskSize(MIB, 16), SMALL, DiskSize(64 * MIB, 16384), DiskSize(2048 * MIB, 200_000)])
def test_a_disk_has_room_for_what_it_is_said_to_have_and_hardly_more(disks, size):
    made = disks.make(size, (4242, 4242))
    found = os.statvfs(made.place)
    room = found.f_bavail * found.f_frsize
    assert size.size_bytes <= room <= size.size_bytes * 1.01 + 64 * 1024
    assert size.inodes <= found.f_favail <= size.inodes * 1.01 + 64
    assert (made.place.stat().st_uid, made.place.stat().st_mode & 0o777) == (4242, 0o700)
    made.remove()
    assert not made.place.exists()


def test_a_size_that_can_not_be_is_refused_and_leaves_nothing(disks):
    before = mounts(disks._top)
    for size in (DiskSize(MIB - 1, 16), DiskSize(MIB, 257), DiskSize(MIB, 0)):
        with pytest.raises(SandboxRefusedError):
            disks.make(size, (0, 0))
    assert (mounts(disks._top), list(disks._top.iterdir())) == (before, [])


def test_a_run_tells_what_was_on_its_disk_at_the_most(small, box):
    ws = guest_folder(small, box)
    text = "head -c 3000000 /dev/zero >big; touch a b c; sleep 0.4; rm big; mkdir d"
    exit_, _ = run(box, small, f"cd /cell/ws; {text}", Bind(ws, "/cell/ws", writable=True))
    assert (exit_.kind, exit_.limits_touched) == (ExitKind.EXITED, ())
    assert 3_000_000 < exit_.peak_disk_bytes < 3_200_000
    assert exit_.peak_inodes == 1 + 4  # ws is one


def test_a_tmp_that_is_a_bind_is_its_disks_business_and_no_limit_of_its_own(small, box):
    tmp = guest_folder(small, box)
    text = "for size in 65536 4096 1024; do dd if=/dev/zero of=/tmp/$size bs=$size count=1000; done; exit 3"
    exit_, _ = run(box, small, text, Bind(tmp, TMP, writable=True))
    assert (os.statvfs(tmp).f_bavail, exit_.code, exit_.limits_touched) == (0, 3, ("disk",))


def test_without_a_disk_nobody_counted(box, tmp_path):
    del tmp_path
    exit_ = box.run(script("true"), Heard(), lambda: False)
    assert (exit_.peak_disk_bytes, exit_.peak_inodes) == (None, None)


def test_a_guest_sees_a_mount_without_setuid_and_devices_and_no_path_of_the_hosts(small, box):
    ws = guest_folder(small, box)
    _, told = run(box, small, "cat /proc/self/mountinfo", Bind(ws, "/cell/ws", writable=True))
    words = next(line.split() for line in told.splitlines() if line.split()[4] == "/cell/ws")
    assert {"nosuid", "nodev"} <= set(words[5].split(","))
    assert words[3] == "/ws"
    host = next(line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(small.place) in line)
    assert {"nosuid", "nodev", "noatime"} <= set(host.split()[5].split(","))


def test_a_disk_that_is_made_while_the_spawner_lives_reaches_it(disks, box):
    assert box.run(script("true"), Heard(), lambda: False).code == 0
    made = disks.make(SMALL, box.owner(0))
    bind = Bind(guest_folder(made, box), "/cell/ws", writable=True)
    assert run(box, made, "echo here >/cell/ws/x", bind)[0].code == 0
    assert (made.place / "ws" / "x").read_text() == "here\n"
    made.remove()


def test_a_backend_that_is_older_than_the_disks_sees_them_once_it_was_closed():
    backend = Bubblewrap(work_root() / "work-older")
    assert backend.run(script("true"), Heard(), lambda: False).code == 0  # its spawner lives
    with some_disks() as later:
        made = later.make(SMALL, backend.owner(0))
        bind = Bind(guest_folder(made, backend), "/cell/ws", writable=True)
        backend.close()
        assert run(backend, made, "echo here >/cell/ws/x", bind)[0].code == 0
        assert (made.place / "ws" / "x").read_text() == "here\n"
        backend.close()


def test_what_lives_while_a_disk_is_removed_does_not_keep_it(disks, box):
    """The other run's namespace began as a copy of all mounts, this disk's included."""
    made = disks.make(DiskSize(9 * MIB, 128), box.owner(0))
    heard = Heard()
    other = threading.Thread(
        target=lambda: box.run(script("echo; exec sleep 20"), heard, lambda: bool(heard.stdout) and removed.is_set())
    )
    removed = threading.Event()
    before = set(loops(images()))
    other.start()
    assert is_soon(lambda: bool(heard.stdout))
    made.remove()
    is_gone = is_soon(lambda: len(loops(images())) == len(before) - 1, 5)
    removed.set()
    other.join()
    assert is_gone


def test_one_that_somebody_of_the_hosts_looks_into_is_detached(disks, box):
    made = disks.make(SMALL, box.owner(0))
    before = len(loops(images()))
    looking = os.open(made.place, os.O_RDONLY)
    made.remove()
    assert (mounts(made.place), made.place.exists()) == ([], False)
    os.close(looking)
    assert is_soon(lambda: len(loops(images())) == before - 1, 5)


def test_a_tool_room_beside_has_a_temporary_folder_of_its_own(small, box):
    tmp = guest_folder(small, box, "tmp")
    spec = script("echo mine >/tmp/x; /.tool /bin/sh -c 'ls -A /tmp; echo its >/tmp/x'; cat /tmp/x")
    sockets = work_root() / "disk-tools"
    sockets.mkdir()
    heard = Heard()
    spec = replace(spec, binds=(Bind(tmp, "/tmp", writable=True),), tools=ToolRoom(sockets / "tools"))  # noqa: S108 (inside)
    assert small.run(box, spec, heard, lambda: False).code == 0
    assert heard.stdout == b"mine\n"
    assert (tmp / "x").read_text() == "mine\n"


MAKER = """
import os, sys, signal
from pathlib import Path
from sandbox import disk
from sandbox.spec import DiskSize
found = disk.find(Path(sys.argv[1]), Path(sys.argv[2]))
made = [found.disks.make(DiskSize(8 << 20, 128), (0, 0)) for _ in range(int(sys.argv[3]))]
for one in made:
    (one.place / "x").write_text("x")
print("made", flush=True)
signal.pause()
"""


def makers(count, each):
    """Start processes that make disks at the same time; give them and their folders."""
    tops = [work_root() / f"disks-maker-{count}-{number}" for number in range(count)]
    where = Path(disk.__file__).parents[2]
    words = [(sys.executable, "-c", MAKER, str(top), str(images()), str(each)) for top in tops]
    return tops, [subprocess.Popen(one, cwd=where, stdout=subprocess.PIPE, env={"PATH": "/bin"}) for one in words]


@needs_root
def test_what_a_killed_process_left_mounted_is_unmounted_and_every_loop_device_freed(disks):
    del disks
    (top,), (maker,) = makers(1, 3)
    assert maker.stdout.readline() == b"made\n"
    before = len(loops(images()))
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    maker.stdout.close()
    assert len(mounts(top)) == 4  # nobody has looked yet
    disk.clear(top)
    assert (mounts(top), top.exists()) == ([], False)
    assert is_soon(lambda: len(loops(images())) == before - 3, 5)


@needs_root
def test_processes_that_make_disks_at_the_same_time_share_devices_and_images_without_harm(disks):
    del disks
    tops, started = makers(4, 5)
    assert [maker.stdout.readline() for maker in started] == [b"made\n"] * 4
    assert sum(len(mounts(top)) for top in tops) == 4 * 6
    for maker in started:
        maker.kill()
        maker.wait()
        maker.stdout.close()
    for top in tops:
        disk.clear(top)


@needs_root
def test_an_ordinary_user_has_no_disks_and_is_told_why():
    assert alone("ordinary", {"do": "disks"}) == {"reason": "only root may mount a disk of a fixed size", "is": False}
