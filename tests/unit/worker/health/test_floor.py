"""Disk and inodes below the floor: what can be made again goes, and then nothing is begun."""

import os
from pathlib import Path

from worker.health.floor import GIB, Floor, Keeper

ALL = 1 << 60


def test_a_floor_names_what_is_short_and_the_setting(tmp_path: Path) -> None:
    assert Floor().shortage(tmp_path) is None
    assert Floor(disk_bytes=1, inodes=0).shortage(tmp_path) is None
    said = Floor(disk_bytes=ALL).shortage(tmp_path)
    assert said is not None
    assert f"GiB of disk are free at {tmp_path}, below the {ALL / GIB:g} GiB of FARM_DISK_FLOOR_GIB" in said
    said = Floor(inodes=ALL).shortage(tmp_path)
    if os.statvfs(tmp_path).f_files:
        assert said is not None
        assert f"inodes are free at {tmp_path}, below the {ALL} of FARM_INODE_FLOOR" in said
    said = Floor().shortage(tmp_path / "gone")
    assert said is not None
    assert "can't be looked at" in said


def test_one_thing_that_can_be_made_again_goes_at_each_look(tmp_path: Path) -> None:
    dropped = list[int]()

    def drop_one() -> bool:
        dropped.append(1)
        return True

    short = Keeper(Floor(disk_bytes=ALL), tmp_path, drop_one)
    assert short.shortage() is not None
    assert short.shortage() is not None
    assert len(dropped) == 2
    assert Keeper(Floor(), tmp_path, drop_one).shortage() is None
    assert len(dropped) == 2


def test_what_can_not_be_dropped_is_no_reason_to_go_on(tmp_path: Path) -> None:
    def drop_one() -> bool:
        raise PermissionError("not ours")

    assert Keeper(Floor(disk_bytes=ALL), tmp_path, drop_one).shortage() is not None
    assert Keeper(Floor(disk_bytes=ALL), tmp_path, lambda: False).shortage() is not None
