"""Version 1 of control groups, on files as the kernel names them, where the hierarchies place us differently."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from sandbox.limits import Groups
from sandbox.limits.files import Kernel
from sandbox.limits.version_one import VersionOne

NAMES = ("pids", "memory", "cpu", "cpuacct", "freezer")


def fill(folder: Path) -> None:
    folder.mkdir()
    for name in ("cgroup.procs", "tasks"):
        (folder / name).touch()
    if "freezer" in folder.parts:
        (folder / "freezer.state").write_text("THAWED")


def remove(folder: Path) -> None:
    """Remove a group and its files, but none with groups below it."""
    for entry in folder.iterdir():
        if entry.is_file():
            entry.unlink()
    folder.rmdir()


KERNEL = Kernel(make=fill, remove=remove)


def groups_of(machine: Path, **bases: str) -> Groups:
    """Give the groups of a process that is in the base of each hierarchy, "shared" if not named."""
    places = [machine / name / bases.get(name, "shared") for name in NAMES]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    return Groups(VersionOne(*places), KERNEL)


def left(machine: Path) -> set[str]:
    return {path.name for path in machine.iterdir() if list(path.glob("*/sandbox-groups/*/"))}


def die_with_a_group(machine: Path, guest: int, **bases: str) -> None:
    owner = os.fork()
    if owner == 0:
        groups_of(machine, **bases).make()
        (procs,) = machine.glob("freezer/*/sandbox-groups/*/*/cgroup.procs")
        procs.write_text(str(guest))
        os._exit(0)
    assert os.waitpid(owner, 0)[1] == 0


@pytest.fixture
def guest():
    sleeper = subprocess.Popen(["/bin/sleep", "600"])
    yield sleeper
    sleeper.kill()
    sleeper.wait()


def test_what_a_dead_owner_left_is_killed_and_removed_from_every_hierarchy(tmp_path, guest):
    die_with_a_group(tmp_path, guest.pid)
    groups = groups_of(tmp_path)
    assert left(tmp_path) == set(NAMES)
    assert (groups.clear_leftovers(), left(tmp_path), groups.clear_leftovers()) == (1, set(), 0)
    assert guest.wait(5) == -signal.SIGKILL


@pytest.mark.parametrize("hierarchy", ["pids", "memory", "cpu"])
def test_a_part_that_lies_where_another_can_not_see_it_is_left_to_who_can(tmp_path, guest, hierarchy):
    die_with_a_group(tmp_path, guest.pid, **{hierarchy: "own"})
    assert groups_of(tmp_path).clear_leftovers() == 1
    assert guest.wait(5) == -signal.SIGKILL
    assert left(tmp_path) == {hierarchy}
    assert groups_of(tmp_path, **{hierarchy: "own"}).clear_leftovers() == 1
    assert left(tmp_path) == set()


@pytest.mark.parametrize("hierarchy", NAMES)
def test_an_owner_is_safe_from_who_shares_only_some_of_its_hierarchies(tmp_path, hierarchy):
    owner = groups_of(tmp_path, **{hierarchy: "own"})
    group = owner.make()
    assert groups_of(tmp_path).clear_leftovers() == 0
    assert left(tmp_path) == set(NAMES)
    group.remove()
    owner.close()
    assert left(tmp_path) == set()
