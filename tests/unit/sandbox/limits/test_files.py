"""What a control file that can't be read is taken for: for nothing good."""

import os
import resource

import pytest

from sandbox.errors import SandboxError
from sandbox.limits import Groups
from sandbox.limits.files import field, number, pids
from sandbox.limits.version_one import VersionOne
from sandbox.limits.version_two import VersionTwo
from tests.builders.control_groups import delegated, fake_kernel

READERS = {
    "pids": pids,
    "number": lambda folder: number(folder / "cgroup.procs"),
    "field": lambda folder: field(folder / "cgroup.procs", "populated"),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_group_that_is_gone_holds_nobody(tmp_path, read):
    assert not read(tmp_path / "gone")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_can_not_be_read_is_told_and_never_taken_for_empty(tmp_path, read):
    (tmp_path / "cgroup.procs").mkdir()
    with pytest.raises(SandboxError, match=r"cgroup\.procs could not be read: Is a directory"):
        read(tmp_path)


def exhausted(act):
    """Do it in a process without a descriptor left; 0 says that it raised SandboxError."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        try:
            act()
        except SandboxError:
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_worker_without_descriptors_can_not_say_that_a_group_is_empty(tmp_path):
    two = Groups(VersionTwo(delegated(tmp_path)), fake_kernel()).make()
    one = VersionOne(*(tmp_path for _ in range(5)))
    (tmp_path / "cgroup.procs").write_text("1\n")
    assert [exhausted(act) for act in (two.is_empty, two.has_run_out, two.usage, one.is_empty)] == [0] * 4
    two.remove()
