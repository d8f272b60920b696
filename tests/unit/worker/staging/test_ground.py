"""The worker's folders, and whose leftovers may be cleared away."""

import os
from pathlib import Path

from tests.builders.worker.farm import a_tar
from worker.staging.ground import Ground, clear_leftovers
from worker.staging.hidden import hidden_files
from worker.trees.copying import Ownership

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
    assert clear_leftovers(tmp_path) == 1
    assert list(tmp_path.glob("cells/*/*")) == [kept.path]
    assert len(list(tmp_path.glob("stage/*"))) == 1
    assert clear_leftovers(tmp_path) == 0


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
