"""Version 2 of control groups, on files as the kernel names them: what is written where, what is read as what."""

import os
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.limits import Bounds, Groups, Usage
from sandbox.limits.version_two import VersionTwo
from tests.builders.control_groups import delegated, fake_kernel

BOUNDS = Bounds(memory_bytes=1 << 28, processes=20, cpus=1.5)


def groups_below(place, kernel):
    return Groups(VersionTwo(place), kernel)


@pytest.fixture
def groups(tmp_path):
    made = groups_below(delegated(tmp_path), fake_kernel())
    yield made
    made.close()


def folder_of(tmp_path):
    (found,) = (tmp_path / "service/sandbox-groups").glob("*/*/memory.max")
    return found.parent


def open_files():
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (a count)


def test_each_bound_is_set_and_swap_is_none(groups, tmp_path):
    group = groups.make()
    group.hold_to(BOUNDS)
    written = {
        "memory.max": "268435456",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "20",
        "cpu.max": "150000 100000",
    }
    # A file of the kernel's takes each write whole; one of a disk keeps the rest of what was longer.
    for name, value in written.items():
        assert (folder_of(tmp_path) / name).read_text().startswith(value), name
    group.remove()


def test_the_controllers_are_passed_on_to_the_groups_and_not_to_their_insides(groups, tmp_path):
    group = groups.make()
    cell = folder_of(tmp_path)
    assert [(folder / "cgroup.subtree_control").read_text() for folder in (cell, cell.parent, cell.parent.parent)] == [
        "",
        "+memory +pids +cpu",
        "+memory +pids +cpu",
    ]
    group.remove()


def test_its_entry_is_its_folder(groups, tmp_path):
    group = groups.make()
    assert [Path(f"/proc/self/fd/{entry}").readlink() for entry in group.entries] == [folder_of(tmp_path)]
    group.remove()


def test_the_usage_is_the_kernels_count(groups, tmp_path):
    group = groups.make()
    assert group.usage() == Usage(cpu_s=1.5, peak_memory_bytes=7340032, peak_processes=6, touched=())
    assert not group.has_run_out()
    (folder_of(tmp_path) / "memory.events").write_text("oom 1\noom_kill 3\noom_group_kill 1\n")
    (folder_of(tmp_path) / "pids.events").write_text("max 2\n")
    assert group.has_run_out()
    (folder_of(tmp_path) / "cpu.stat").write_text("usage_usec 1500000\nnr_periods 9\nnr_throttled 4\n")
    assert group.usage().touched == ("memory", "processes", "processors")
    group.remove()


def test_what_an_older_kernel_does_not_count_is_unknown(groups, tmp_path):
    group = groups.make()
    for name in ("memory.peak", "pids.peak"):
        (folder_of(tmp_path) / name).unlink()
    assert (group.usage().peak_memory_bytes, group.usage().peak_processes) == (None, None)
    group.remove()


def test_it_is_killed_at_once_and_empty_when_the_kernel_says_so(groups, tmp_path):
    group = groups.make()
    events = folder_of(tmp_path) / "cgroup.events"
    events.write_text("populated 1\nfrozen 0\n")
    assert not group.is_empty()
    group.kill()
    assert (folder_of(tmp_path) / "cgroup.kill").read_text() == "1"
    events.write_text("populated 0\nfrozen 0\n")
    assert group.is_empty()
    group.remove()


def test_a_bound_that_can_not_be_set_is_told(tmp_path):
    kernel = fake_kernel()

    def make(folder):
        kernel.make(folder)
        (folder / "pids.max").unlink()

    groups = groups_below(delegated(tmp_path), type(kernel)(make=make, remove=kernel.remove))
    group = groups.make()
    with pytest.raises(SandboxError, match=r"pids\.max"):
        group.hold_to(BOUNDS)
    group.remove()
    groups.close()


def test_a_group_that_can_not_be_made_ready_leaves_nothing(tmp_path):
    kernel = fake_kernel()

    def make(folder):
        kernel.make(folder)
        if folder.parent.parent.name == "sandbox-groups":
            (folder / "memory.oom.group").unlink()

    groups = groups_below(delegated(tmp_path), type(kernel)(make=make, remove=kernel.remove))
    before = open_files()
    with pytest.raises(SandboxError, match=r"memory\.oom\.group"):
        groups.make()
    assert list((tmp_path / "service/sandbox-groups").glob("*/*/")) == []
    groups.close()
    assert open_files() == before


def test_only_what_dead_owners_left_is_cleared(tmp_path):
    place = delegated(tmp_path)
    owner = os.fork()
    if owner == 0:
        groups_below(place, fake_kernel()).make()
        os._exit(0)
    os.waitpid(owner, 0)
    groups = groups_below(place, fake_kernel())
    group = groups.make()
    assert len(list((place / "sandbox-groups").glob("*/*/memory.max"))) == 2
    assert groups.clear_leftovers() == 1
    assert groups.clear_leftovers() == 0
    assert len(list((place / "sandbox-groups").glob("*/*/memory.max"))) == 1
    group.remove()
    groups.close()


def test_a_fork_has_an_area_of_its_own(tmp_path):
    place = delegated(tmp_path)
    groups = groups_below(place, fake_kernel())
    groups.make().remove()
    child = os.fork()
    if child == 0:
        groups.make()
        os._exit(len(list((place / "sandbox-groups").glob("*/cgroup.procs"))))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
    assert groups.clear_leftovers() == 1
    groups.close()


def test_a_group_made_ready_is_the_next_one_and_only_one_waits(groups, tmp_path):
    groups.make_ready()
    ready = folder_of(tmp_path)
    groups.make_ready()
    group = groups.make()
    group.hold_to(BOUNDS)
    assert folder_of(tmp_path) == ready
    assert (ready / "pids.max").read_text().startswith("20")
    group.remove()


def test_a_group_made_ready_and_never_used_is_removed_in_the_end(tmp_path):
    before = open_files()
    groups = groups_below(delegated(tmp_path), fake_kernel())
    groups.make_ready()
    groups.close()
    assert list((tmp_path / "service/sandbox-groups").glob("*/*/")) == []
    assert open_files() == before


def test_a_fork_takes_no_group_that_its_parent_made_ready(tmp_path):
    groups = groups_below(delegated(tmp_path), fake_kernel())
    groups.make_ready()
    ready = folder_of(tmp_path)
    child = os.fork()
    if child == 0:
        groups.make().remove()
        groups.make_ready()
        groups.close()
        os._exit(not ready.exists())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    groups.close()


def test_what_stands_in_the_way_of_a_ready_group_is_told_by_the_next_make(tmp_path):
    kernel = fake_kernel()
    is_broken = True

    def make(folder):
        kernel.make(folder)
        if is_broken and folder.parent.parent.name == "sandbox-groups":
            (folder / "memory.oom.group").unlink()

    groups = groups_below(delegated(tmp_path), type(kernel)(make=make, remove=kernel.remove))
    groups.make_ready()
    with pytest.raises(SandboxError, match=r"memory\.oom\.group"):
        groups.make()
    is_broken = False
    groups.make().remove()
    groups.close()
