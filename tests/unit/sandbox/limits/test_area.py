"""A process's folder in each hierarchy: made in all or in none, held as long as the process lives."""

import errno
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.limits.area import Area
from sandbox.limits.files import Kernel
from sandbox.limits.version_one import VersionOne

NAMES = ("pids", "memory", "cpu", "cpuacct", "freezer")


@pytest.fixture
def place(tmp_path):
    for name in NAMES:
        (tmp_path / name).mkdir()
    return VersionOne(*(tmp_path / name for name in NAMES))


def left(tmp_path):
    return [path for path in tmp_path.glob("*/sandbox-groups/**/") if path.name != "sandbox-groups"]


def remove_all(folders):
    for folder in folders:
        folder.rmdir()


def open_files():
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (a count)


def out_of_room_in(hierarchy, depth):
    """Give a kernel that makes no folder of that hierarchy `depth` below the top."""

    def make(folder: Path):
        if hierarchy in folder.parts and folder.parents[depth - 1].name == "sandbox-groups":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        folder.mkdir()

    return Kernel(make=make)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("hierarchy", NAMES)
def test_what_can_not_be_made_in_one_hierarchy_is_left_in_none(tmp_path, place, hierarchy, depth):
    before = open_files()
    area = Area(out_of_room_in(hierarchy, depth), place)
    for _ in range(2):
        with pytest.raises(SandboxError, match=f"{hierarchy}/sandbox-groups/.*No space left"):
            area.cell()
    area.close()
    assert left(tmp_path) == []
    assert open_files() == before


def test_an_area_is_given_up_once(tmp_path, place):
    area = Area(Kernel(remove=shutil.rmtree), place)
    area.cell()
    area.close()
    taken = os.open("/", os.O_PATH)
    area.close()
    os.fstat(taken)  # its number was the area's: it is not closed again
    os.close(taken)
    assert left(tmp_path) == []


def test_its_folder_is_held_in_every_hierarchy(tmp_path, place):
    owner = Area(Kernel(), place)
    cell = owner.cell()
    assert list(Area(Kernel(), place).dead()) == []
    remove_all(cell.folders())
    owner.close()
    for name in NAMES:
        (tmp_path / name / "sandbox-groups" / name).mkdir()
    assert sorted(dead.name for dead in Area(Kernel(), place).dead()) == sorted(NAMES)


def test_who_finds_a_part_taken_makes_all_anew(tmp_path, place):
    taken = []

    def make(folder: Path):
        folder.mkdir()
        if "cpu" in folder.parts and folder.name != "sandbox-groups" and not taken:
            for dead in Area(Kernel(), place).dead():
                taken.append(dead)
                dead.rmdir()

    area = Area(Kernel(make=make), place)
    cell = area.cell()
    assert [folder.parts[-3] for folder in taken] == ["cpu"]
    assert {folder.parent.name for folder in cell.folders()} == {path.name for path in tmp_path.glob("*/*/*")}
    remove_all(cell.folders())
    area.close()
    assert left(tmp_path) == []


def test_a_fork_that_gets_its_own_lets_go_of_its_parents(place):
    area = Area(Kernel(), place)
    remove_all(area.cell().folders())
    child = os.fork()
    if child == 0:
        before = open_files()
        remove_all(area.cell().folders())
        more = open_files() - before
        area.close()
        os._exit(more)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    area.close()


def test_who_looks_at_a_dead_ones_area_and_stops_lets_go_of_it(tmp_path, place):
    dead = tmp_path / "pids/sandbox-groups/dead"
    dead.mkdir(parents=True)
    area = Area(Kernel(), place)
    before = open_files()
    looking = area.dead()
    assert next(looking) == dead
    assert list(area.dead()) == []
    looking.close()
    assert list(area.dead()) == [dead]
    assert open_files() == before


def test_owners_that_come_and_go_and_clear_at_once_never_harm_each_other(tmp_path, place):
    """Threads stand for processes: the kernel keeps a lock for each opening of a file, not for each process."""
    kernel, end = Kernel(), time.monotonic() + 1.0

    def come_and_go():
        while time.monotonic() < end:
            area = Area(kernel, place)
            cell = area.cell()
            remove_all(cell.folders())
            area.close()

    def clear():
        while time.monotonic() < end:
            for dead in Area(kernel, place).dead():
                dead.rmdir()

    with ThreadPoolExecutor(5) as pool:
        running = [pool.submit(work) for work in (come_and_go, come_and_go, come_and_go, clear, clear)]
    assert [one.exception() for one in running] == [None] * len(running)
    assert left(tmp_path) == []
