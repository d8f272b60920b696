"""Disks of a test's own, and what is left of them on the host."""

import os
import secrets
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox import disk
from tests.builders.sandbox_rooms import work_root

IMAGES = "images"


def images():
    """Give the run's folder of premade images."""
    return work_root() / IMAGES


@contextmanager
def some_disks():
    """Make disks below a folder of their own; skip where this machine has none, which CI must have."""
    found = disk.find(work_root() / f"disks-{secrets.token_hex(4)}", images())
    if found.disks is None:
        assert os.geteuid() != 0 or not os.environ.get("CI"), found.reason  # noqa: TID251 (tests have no settings)
        pytest.skip(found.reason)
    try:
        yield found.disks
    finally:
        found.disks.close()


def loops(folder: Path) -> list[str]:
    """Name the loop devices that hold a file of `folder`."""
    found = []
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            name = backing.read_text()
        except OSError:  # let go meanwhile
            continue
        if name.startswith(f"{folder.resolve()}/"):
            found.append(backing.parts[3])
    return found


def mounts(folder: Path) -> list[str]:
    """Give what is mounted at or below `folder`."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point == str(folder.resolve()) or point.startswith(f"{folder.resolve()}/")]
