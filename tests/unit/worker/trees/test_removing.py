"""Removing what a guest left: deep, wide, closed, and with names of our own."""

import os
import resource
from pathlib import Path

import pytest

from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree

DEEP = 5000


def go_down(place: Path, levels: int, name: str) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        following = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = following
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)


def test_five_thousand_levels_are_removed(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    go_down(tmp_path / "ws", DEEP, "a-rather-long-name")
    remove_tree(tmp_path / "ws")
    assert list(tmp_path.iterdir()) == []


def test_many_entries_are_removed_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    for number in range(30_000):
        os.close(os.open(tmp_path / "ws" / f"{number}", os.O_CREAT | os.O_WRONLY))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    remove_tree(tmp_path / "ws")
    assert list(tmp_path.iterdir()) == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 << 10


def test_names_that_are_ours_are_no_obstacle(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    for number in range(20):
        (root / f".{number}/sub/.{number}").mkdir(parents=True)
        (root / f".{number}/.{number + 1}").write_text("")
    (root / ".20").write_text("")
    remove_tree(root)
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o500)
    (tmp_path / "ws/sub").mkdir(parents=True)
    (tmp_path / "ws/link").symlink_to(kept)
    (tmp_path / "ws/sub/link").symlink_to(kept)
    remove_tree(tmp_path / "ws")
    assert kept.stat().st_mode & 0o777 == 0o500


def test_a_link_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "ws").symlink_to(kept)
    with pytest.raises(TreeError, match="no folder"):
        remove_tree(tmp_path / "ws")
    assert kept.is_dir()


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove_tree(tmp_path / "ws")


def test_an_ordinary_user_removes_folders_that_were_closed(as_an_ordinary_user: Path) -> None:
    root = as_an_ordinary_user / "ws"
    (root / "shut/inner/inmost").mkdir(parents=True)
    (root / "shut/inner/file").write_text("")
    (root / "fixed/sub/sub").mkdir(parents=True)
    for path, mode in (("shut/inner/inmost", 0), ("shut/inner", 0o555), ("shut", 0), ("fixed/sub", 0o555)):
        (root / path).chmod(mode)
    root.chmod(0)
    remove_tree(root)
    assert list(as_an_ordinary_user.iterdir()) == []
