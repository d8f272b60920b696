"""Fingerprints of workspaces."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from farm.model import MIB
from worker.collect.outputs import OutputCaps, take_outputs
from worker.trees.copying import Ownership, copy_tree
from worker.trees.errors import TreeError, TreeLimit, TreeLimitError
from worker.trees.removing import remove_tree
from worker.trees.scan import EntryKind, changes_between, listing, scan, shown


@pytest.fixture
def place(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "src/a").write_text("a")
    (root / "b").write_text("b")
    (root / "link").symlink_to("b")
    return root


def add(path: Path) -> None:
    (path / "new").write_text("")


def change_keeping_size_and_time(path: Path) -> None:
    before = (path / "b").stat()
    (path / "b").write_text("c")
    os.utime(path / "b", ns=(before.st_atime_ns, before.st_mtime_ns))


def make_executable(path: Path) -> None:
    (path / "b").chmod(0o755)


def point_elsewhere(path: Path) -> None:
    (path / "link").unlink()
    (path / "link").symlink_to("src/a")


def put_a_copy_in_the_links_place(path: Path) -> None:
    (path / "link").unlink()
    (path / "link").write_text("b")


def remove(path: Path) -> None:
    (path / "src/a").unlink()


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (add, (("new",), (), ())),
        (change_keeping_size_and_time, ((), ("b",), ())),
        (make_executable, ((), ("b",), ())),
        (point_elsewhere, ((), ("link",), ())),
        (put_a_copy_in_the_links_place, ((), ("link",), ())),
        (remove, ((), (), ("src/a",))),
    ],
)
def test_every_change_of_content_is_seen(
    place: Path, act: Callable[[Path], None], expected: tuple[tuple[str, ...], ...]
) -> None:
    before = scan(place)
    act(place)
    after = scan(place)
    found = changes_between(before, after)
    assert (found.added, found.changed, found.removed) == expected
    assert before.digest != after.digest


def test_times_folders_and_git_do_not_count(place: Path) -> None:
    before = scan(place)
    os.utime(place / "b", ns=(1, 1))
    (place / "empty").mkdir()
    (place / ".git").mkdir()
    (place / ".git/config").write_text("[core]")
    assert scan(place).digest == before.digest


def test_a_git_folder_further_down_counts(place: Path) -> None:
    before = scan(place)
    (place / "src/.git").mkdir()
    (place / "src/.git/config").write_text("")
    assert changes_between(before, scan(place)).added == ("src/.git/config",)


def test_a_pipe_is_listed_and_never_opened(place: Path) -> None:
    os.mkfifo(place / "pipe")
    assert scan(place).entries["pipe"].kind is EntryKind.OTHER


def test_a_link_to_a_folder_is_not_entered(place: Path) -> None:
    (place / "up").symlink_to("..")
    assert {path for path in scan(place).entries if path.startswith("up")} == {"up"}


def test_a_workspace_too_deep_is_refused(place: Path) -> None:
    (place / "/".join(["d"] * 300)).mkdir(parents=True)
    with pytest.raises(TreeError, match="folders deep"):
        scan(place)


def test_a_name_that_is_not_utf_8_is_shown_with_escapes(place: Path) -> None:
    (place / os.fsdecode(b"bad\xff")).write_text("")
    assert [shown(path) for path in scan(place).entries if path.startswith("bad")] == ["bad\\xff"]


def test_a_copy_has_the_same_fingerprint_and_times(place: Path, tmp_path: Path) -> None:
    (place / "b").chmod(0o755)
    os.mkfifo(place / "pipe")
    copy = tmp_path / "copy"
    copy_tree(place, listing(place), copy, Ownership(os.geteuid(), os.getegid()))
    (place / "pipe").unlink()
    assert scan(copy).digest == scan(place).digest
    assert (copy / "b").stat().st_mtime_ns == (place / "b").stat().st_mtime_ns


def test_anything_a_guest_built_can_be_removed(place: Path) -> None:
    deep = place
    descriptor = os.open(deep, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=descriptor)
        following = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = following
    os.close(descriptor)
    (place / "src").chmod(0)
    remove_tree(place)
    assert not place.exists()


def test_what_a_guest_closed_to_us_is_its_own_doing(as_an_ordinary_user: Path) -> None:
    (as_an_ordinary_user / "shut").mkdir()
    (as_an_ordinary_user / "shut").chmod(0)
    with pytest.raises(TreeError, match="can't be read"):
        scan(as_an_ordinary_user)
    assert take_outputs(as_an_ordinary_user / "shut", OutputCaps()).refused
    remove_tree(as_an_ordinary_user / "shut")
    assert list(as_an_ordinary_user.iterdir()) == []


def test_a_path_longer_than_the_kernel_takes_is_the_guests_doing(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=descriptor)
        following = os.open("d" * 250, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = following
    os.close(descriptor)
    with pytest.raises(TreeError, match="longer than 4095 bytes"):
        scan(place)


def go_down(place: Path, name: str, levels: int) -> int:
    """Make folders in folders, and give the last one opened."""
    descriptor = os.open(place, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        following = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = following
    return descriptor


def test_a_pipe_at_such_a_path_is_no_way_around_it(place: Path) -> None:
    """Nobody opens it here; somebody else would find that it can't be looked at."""
    folder = go_down(place, "d" * 255, 15)
    os.mkfifo("p" * 255, dir_fd=folder)
    assert len(scan(place).entries) == 4
    os.mkdir("q" * 250, dir_fd=folder)
    os.mkfifo("q" * 250 + "/ppppp", dir_fd=folder)
    os.close(folder)
    with pytest.raises(TreeLimitError) as caught:
        scan(place)
    assert caught.value.limit is TreeLimit.UNREADABLE


def test_paths_are_bounded_by_what_they_take_in_memory(place: Path) -> None:
    folder = go_down(place, "d" * 255, 15)
    for number in range(17_000):
        os.mkdir(f"{number:0200}", dir_fd=folder)
    os.close(folder)
    with pytest.raises(TreeLimitError, match="characters") as caught:
        scan(place)
    assert caught.value.limit is TreeLimit.FILES


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def test_a_workspace_too_large_is_refused_before_anything_is_hashed(place: Path) -> None:
    for number in range(9):
        sparse(place / f"{number}", 1000 * MIB)
    began = time.process_time()
    with pytest.raises(TreeLimitError, match=r"more than 8589934592 bytes$") as caught:
        scan(place)
    assert time.process_time() - began < 0.5
    assert caught.value.limit is TreeLimit.BYTES


def test_holes_are_bounded_by_themselves(place: Path) -> None:
    for number in range(5):
        sparse(place / f"{number}", 250 * MIB)
    with pytest.raises(TreeLimitError, match="of holes") as caught:
        scan(place)
    assert caught.value.limit is TreeLimit.BYTES


def test_a_hole_has_the_fingerprint_of_the_zeros_that_it_shows(place: Path) -> None:
    with (place / "b").open("wb") as file:
        file.truncate(3 * MIB)
        os.pwrite(file.fileno(), b"x", 2 * MIB)
    before = scan(place).digest
    (place / "b").write_bytes((place / "b").read_bytes())
    assert scan(place).digest == before


def test_a_scan_can_be_stopped_within_a_file(place: Path) -> None:
    (place / "b").write_bytes(bytes(9 * MIB))
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked == 12:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        scan(place, check)
