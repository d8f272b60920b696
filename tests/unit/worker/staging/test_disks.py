"""The disks of cells: who pays for them, and what the evidence says of them."""

import errno

import pytest

from farm.errors import SpecError
from farm.model import MIB, Limits
from sandbox.disk import Found
from worker.staging.disks import CellDisks, fitting
from worker.trees.copying import Ownership

OWNER = Ownership(200_000, 200_000)


class Host:
    """A host without disks, that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find(self) -> Found:
        self.asked.append("find")
        return Found(None, "mkfs.ext4 is missing")

    def renew(self) -> None:
        self.asked.append("renew")


def test_a_task_without_a_limit_asks_the_host_for_nothing() -> None:
    host = Host()
    disks = CellDisks(host.find, host.renew)
    assert disks.make(Limits(), OWNER) is None
    assert disks.told(Limits()) == "not capped: the task sets no limit"
    assert host.asked == []


def test_a_host_without_disks_is_asked_once_and_the_evidence_says_why_nothing_is_capped() -> None:
    host = Host()
    disks = CellDisks(host.find, host.renew)
    for _ in range(2):
        assert disks.make(Limits(disk_bytes=MIB), OWNER) is None
        assert disks.told(Limits(disk_bytes=MIB)) == "not capped: mkfs.ext4 is missing"
    assert host.asked == ["find"]


def test_only_a_full_disk_of_the_cells_own_is_the_tasks_fault() -> None:
    with pytest.raises(OSError, match="full") as full, fitting(None):
        raise OSError(errno.ENOSPC, "full")
    assert not isinstance(full.value, SpecError)
