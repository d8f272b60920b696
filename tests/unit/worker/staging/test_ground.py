"""The worker's folders, and whose leftovers may be cleared away."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from farm.errors import IntegrityError
from tests.builders.worker.farm import a_tar
from worker.staging.ground import Ground, Told, clear_leftovers
from worker.staging.hidden import hidden_files
from worker.trees.copying import Ownership


def nobodys(_: Path) -> Told:
    """Look at a folder that is of no cell that anybody knows."""
    return lambda _: None


ME = Ownership(os.geteuid(), os.getegid())


def test_a_cells_folder_has_an_opaque_name_and_is_closed_to_others(tmp_path: Path) -> None:
    ground = Ground(tmp_path / "root")
    folder = ground.cell(ME)
    folder.prepare()
    home = folder.new_home()
    assert {path.stat().st_mode & 0o777 for path in (folder.path, folder.out, home)} == {0o700}
    assert {path.stat().st_mode & 0o777 for path in (folder.path.parent, folder.path.parent.parent)} == {0o711}
    assert len(folder.path.name) == 16
    assert folder.new_home() != home


def test_a_root_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    Ground(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o750


def test_only_what_a_dead_process_left_is_cleared(tmp_path: Path) -> None:
    living = Ground(tmp_path)
    kept = living.cell(ME)
    kept.prepare()
    child = os.fork()
    if child == 0:
        Ground(tmp_path).cell(ME).prepare()
        os._exit(0)
    os.waitpid(child, 0)
    assert clear_leftovers(tmp_path, nobodys) == 1
    assert list(tmp_path.glob("cells/*/*")) == [kept.path]
    assert len(list(tmp_path.glob("stage/*"))) == 1
    assert clear_leftovers(tmp_path, nobodys) == 0


def test_hidden_files_that_are_not_what_they_were_raise_at_the_blocks_end(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    with (
        pytest.raises(IntegrityError, match="changed while its check ran"),
        hidden_files(ground, a_tar({"check.py": "x"}), ME) as files,
    ):
        (files.source / "check.py").write_text("y")
    assert list(tmp_path.glob("stage/*/*")) == []


def test_hidden_files_are_there_for_the_block_only_and_only_for_the_group(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    with hidden_files(ground, a_tar({"check.py": "x", "run.sh": "#!/bin/sh"}), ME) as files:
        assert (files.source / "check.py").read_text() == "x"
        assert files.source.stat().st_mode & 0o777 == 0o750
        assert files.target.startswith("/cell/.o-")
        assert not files.source.name.startswith("check")
    assert list(tmp_path.glob("stage/*/*")) == []


def test_a_closed_ground_leaves_nothing(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    ground.cell(ME).prepare()
    ground.close()
    assert [list(tmp_path.glob(f"{area}/*")) for area in ("cells", "stage")] == [[], []]


@pytest.mark.parametrize("workers", [2, 6])
def test_starts_and_shutdowns_at_once_raise_nothing_and_leave_nothing(tmp_path: Path, workers: int) -> None:
    """Threads stand for processes: the kernel keeps a lock for each opening of a file, not for each process."""
    end = time.monotonic() + 1.0

    def come_and_go() -> None:
        while time.monotonic() < end:
            ground = Ground(tmp_path)
            ground.cell(ME).prepare()
            ground.new_stage(ME)
            ground.close()

    def start() -> None:
        while time.monotonic() < end:
            clear_leftovers(tmp_path, nobodys)

    with ThreadPoolExecutor(workers + 2) as pool:
        running = [pool.submit(come_and_go) for _ in range(workers)] + [pool.submit(start) for _ in range(2)]
    assert [one.exception() for one in running] == [None] * len(running)
    assert [list(tmp_path.glob(f"{area}/*")) for area in ("cells", "stage")] == [[], []]


def test_an_area_that_can_not_be_removed_keeps_no_other_from_being(tmp_path: Path) -> None:
    Ground(tmp_path).close()
    for name in ("cells/a", "stage/b", "stage/c"):
        (tmp_path / name).mkdir()
    (tmp_path / "stage/a").touch()  # no folder: what removes folders refuses it
    (tmp_path / "stage/d").touch()
    (tmp_path / "cells/e").mkdir()
    assert clear_leftovers(tmp_path, nobodys) == 1
    assert {path.name for path in (*tmp_path.glob("cells/*"), *tmp_path.glob("stage/*"))} == {"a", "d"}
