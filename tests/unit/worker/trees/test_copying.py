"""Copies of untrusted folders: as large as what they are copied from, and never more."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from farm.model import MIB
from worker.trees.copying import Ownership, copy_tree
from worker.trees.errors import TreeLimit, TreeLimitError
from worker.trees.scan import listing, scan

US = Ownership(os.geteuid(), os.getegid())


class EnoughError(Exception):
    """The work was asked to stop."""


def after(calls: int) -> Callable[[], None]:
    """Give a check that says stop when it is asked for the last time of `calls`."""
    left = calls

    def check() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise EnoughError

    return check


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / ".git").mkdir(parents=True)
    return folder


def copied(ws: Path) -> Path:
    copy = ws.with_name("copy")
    copy_tree(ws, listing(ws), copy, US)
    return copy


def room(folder: Path) -> int:
    files = {(one.stat().st_ino, one.stat().st_blocks) for one in folder.rglob("*") if one.is_file()}
    return sum(blocks * 512 for _, blocks in files)


def test_holes_stay_holes_and_the_bytes_between_them_are_the_same(ws: Path) -> None:
    with (ws / "sparse").open("wb") as file:
        file.truncate(12 * MIB)
        for at in (1 * MIB, 5 * MIB + 7, 12 * MIB - 1):
            os.pwrite(file.fileno(), b"x", at)
    copy = copied(ws)
    assert room(copy) == room(ws) < MIB
    assert scan(copy).digest == scan(ws).digest


def test_a_file_that_is_nothing_but_a_hole_keeps_its_size(ws: Path) -> None:
    with (ws / "hole").open("wb") as file:
        file.truncate(3 * MIB)
    assert (copied(ws) / "hole").read_bytes() == bytes(3 * MIB)


def test_names_of_one_file_are_names_of_one_file_in_the_copy(ws: Path) -> None:
    (ws / "one").write_bytes(bytes(MIB))
    os.link(ws / "one", ws / ".git/other")
    (ws / "link").symlink_to("one")
    copy = copied(ws)
    assert (copy / "one").samefile(copy / ".git/other")
    assert not (copy / "one").samefile(ws / "one")
    assert room(copy) == room(ws)


@pytest.mark.parametrize("place", [".git/s", "s"])
def test_what_a_listing_takes_is_bounded_by_its_size_git_included(ws: Path, place: str) -> None:
    for number in range(9):
        with (ws / f"{place}{number}").open("wb") as file:
            file.truncate(1000 * MIB)
    with pytest.raises(TreeLimitError, match="bytes") as caught:
        listing(ws)
    assert caught.value.limit is TreeLimit.BYTES


def test_every_name_of_a_file_counts(ws: Path) -> None:
    with (ws / "s").open("wb") as file:
        file.truncate(2000 * MIB)
    for number in range(4):
        os.link(ws / "s", ws / f".git/{number}")
    with pytest.raises(TreeLimitError, match="bytes"):
        listing(ws)


def test_a_path_as_long_as_the_kernel_takes_is_copied(ws: Path) -> None:
    place = os.open(ws, os.O_RDONLY)
    for level in range(16):
        name = "d" * (255 if level < 15 else 254)
        os.mkdir(name, dir_fd=place)
        below = os.open(name, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(place)
    copy_tree(ws, listing(ws), ws.with_name("copy"), US)
    assert [found.path for found in listing(ws.with_name("copy"))] == [found.path for found in listing(ws)]


def test_a_copy_can_be_stopped_between_two_files(ws: Path) -> None:
    for number in range(3):
        (ws / f"{number}").touch()
    with pytest.raises(EnoughError):
        copy_tree(ws, listing(ws), ws.with_name("copy"), US, after(3))


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_copy_can_be_stopped_within_a_file(ws: Path, pieces: int) -> None:
    with (ws / "large").open("wb") as file:
        for piece in range(pieces):
            os.posix_fallocate(file.fileno(), piece * 80 * MIB, 65 * MIB)
            os.pwrite(file.fileno(), b"x", piece * 80 * MIB)
    copy_tree(ws, listing(ws), ws.with_name("whole"), US, after(99))
    with pytest.raises(EnoughError):
        copy_tree(ws, listing(ws), ws.with_name("copy"), US, after(3))


def test_a_listing_can_be_stopped(ws: Path) -> None:
    for number in range(3):
        (ws / f"{number}").touch()
    with pytest.raises(EnoughError):
        listing(ws, after(3))


@pytest.mark.parametrize("closed", ["folder", "file"])
def test_what_a_guest_closed_in_its_git_folder_is_its_own_doing(as_an_ordinary_user: Path, closed: str) -> None:
    ws = as_an_ordinary_user / "ws"
    (ws / ".git/folder").mkdir(parents=True)
    (ws / ".git/file").touch()
    (ws / ".git" / closed).chmod(0)
    with pytest.raises(TreeLimitError) as caught:
        copy_tree(ws, listing(ws), as_an_ordinary_user / "copy", Ownership(os.geteuid(), os.getegid()))
    assert caught.value.limit is TreeLimit.UNREADABLE
