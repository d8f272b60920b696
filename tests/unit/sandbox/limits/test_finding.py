"""Which control groups a process finds, from what /proc says about it."""

import os

from sandbox.limits import find, of_process
from tests.builders.control_groups import delegated, make_group

V1 = ["cpu", "cpuacct", "memory", "pids", "freezer"]


def proc(tmp_path, cgroup, mounts):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cgroup").write_text(cgroup)
    (tmp_path / "proc/mountinfo").write_text(mounts)
    return tmp_path / "proc"


def mount(point, kind, options, root="/"):
    return f"31 23 0:28 {root} {point} rw,relatime shared:9 - {kind} {kind} {options}\n"


def of_version_one(tmp_path, names, own="/"):
    for name in names:
        (tmp_path / name).mkdir()
    cgroup = "".join(f"{number}:{name}:{own}\n" for number, name in enumerate(names, 2))
    return proc(tmp_path, cgroup, "".join(mount(tmp_path / name, "cgroup", f"rw,{name}") for name in names))


def test_version_one_is_taken_where_all_five_are_ours(tmp_path):
    assert find(of_version_one(tmp_path, V1)).groups.kind == "cgroup v1"


def test_one_that_is_missing_is_named(tmp_path):
    found = find(of_version_one(tmp_path, V1[:-1]))
    assert (found.groups, found.reason) == (None, "no control group of freezer is mounted")


def test_where_there_is_nothing_it_says_so(tmp_path):
    assert find(proc(tmp_path, "", mount("/", "ext4", "rw"))).groups is None


def of_version_two(tmp_path, own):
    place = delegated(tmp_path)
    make_group(place / "sandbox-groups")  # a kernel would fill what `find` makes
    return place, proc(tmp_path, f"0::{own}\n", mount(tmp_path, "cgroup2", "rw,nsdelegate"))


def test_a_delegated_subtree_is_taken_and_its_owner_steps_aside(tmp_path):
    place, here = of_version_two(tmp_path, "/service")
    make_group(place / "sandbox-owner")
    (place / "cgroup.procs").write_text(f"{os.getpid()}\n")
    assert find(here).groups.kind == "cgroup v2"
    assert (place / "sandbox-owner/cgroup.procs").read_text() == str(os.getpid())
    assert (place / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_who_stands_aside_already_finds_the_subtree_above(tmp_path):
    place, here = of_version_two(tmp_path, "/service/sandbox-owner")
    make_group(place / "sandbox-owner")
    assert find(here).groups.kind == "cgroup v2"
    assert (place / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_a_group_that_others_share_is_left_alone(tmp_path):
    place, here = of_version_two(tmp_path, "/service")
    (place / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    found = find(here)
    assert found.groups is None
    assert "holds others" in found.reason
    assert (place / "cgroup.subtree_control").read_text() == ""


def test_a_kernel_that_can_not_kill_a_group_at_once_is_told_and_nobody_is_moved(tmp_path):
    place, here = of_version_two(tmp_path, "/service")
    make_group(place / "sandbox-owner")
    (place / "sandbox-groups/cgroup.kill").unlink()
    (place / "cgroup.procs").write_text(f"{os.getpid()}\n")
    found = find(here)
    assert (found.groups, found.reason) == (None, f"groups in {place} have no cgroup.kill; it comes with Linux 5.14")
    assert (place / "sandbox-owner/cgroup.procs").read_text() == ""
    assert (place / "cgroup.subtree_control").read_text() == ""


def test_the_whole_machines_group_holds_others_and_is_taken(tmp_path):
    place, here = of_version_two(tmp_path, "/service")
    for name in ("cgroup.events", "cgroup.kill"):  # which the first group of all has on no kernel
        (place / name).unlink()
    (place / "cgroup.procs").write_text(f"{os.getpid()}\n{os.getppid()}\n")
    assert find(here).groups.kind == "cgroup v2"


def test_a_container_sees_its_own_group_as_the_root_of_the_mount(tmp_path):
    place = delegated(tmp_path)
    make_group(place / "sandbox-groups")
    make_group(place / "sandbox-owner")
    line = mount(place, "cgroup2", "rw", root="/docker/abc")
    here = proc(tmp_path, "0::/docker/abc/sandbox-owner\n", line)
    assert find(here).groups.kind == "cgroup v2"


def of_somebody(here, cgroup):
    """Let process 7 be in `cgroup`, on the machine whose mounts were told."""
    (here / "self").symlink_to(".")
    (here / "7").mkdir()
    (here / "7/cgroup").write_text(cgroup)
    return here


def test_somebody_elses_group_of_version_one_is_read_by_its_mark(tmp_path):
    here = of_version_one(tmp_path, V1)
    for name in V1:
        (tmp_path / name / "engine/box-ab12").mkdir(parents=True)
    (tmp_path / "pids/engine/box-ab12/pids.peak").write_text("23\n")
    (tmp_path / "cpuacct/engine/box-ab12/cpuacct.usage").write_text("1500000000\n")
    of_somebody(here, "".join(f"3:{name}:/engine/box-ab12\n" for name in V1))
    used = of_process(7, "ab12", here).usage()
    assert (used.peak_processes, used.cpu_s, used.peak_memory_bytes) == (23, 1.5, None)
    assert of_process(7, "cd34", here) is None


def test_somebody_elses_group_of_version_two_is_read_and_never_made(tmp_path):
    place, here = of_version_two(tmp_path, "/service")
    of_somebody(here, "0::/service/ab12.scope\n")
    assert of_process(7, "ab12", here) is None
    make_group(place / "ab12.scope")
    assert of_process(7, "ab12", here).usage().peak_memory_bytes == 7340032


def test_a_process_that_is_not_seen_from_here_has_no_group(tmp_path):
    assert of_process(8, "", of_somebody(of_version_one(tmp_path, V1), "")) is None
