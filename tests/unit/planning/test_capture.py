"""Folders and files captured by their content."""

import os
from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.planning import capture
from farm.planning.capture import MOST_BYTES, MOST_PATH_BYTES
from tests.builders.planning import files_in


def captured(source: Path, below: str = "") -> tuple[str, ...]:
    target = source.with_name("captured.tar")
    target.unlink(missing_ok=True)
    capture.capture(source, target, below)
    return files_in(target.read_bytes())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deps/a").mkdir(parents=True)
    (tmp_path / "deps/a/x").write_text("x\n")
    return tmp_path / "deps"


def test_a_folder_is_captured_with_its_links_without_what_running_leaves(folder: Path) -> None:
    (folder / "up").symlink_to("a/x")
    (folder / "a/__pycache__").mkdir()
    (folder / "a/__pycache__/m.pyc").write_bytes(b"1")
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_text("ref")
    assert captured(folder) == ("a/x", "up")
    assert captured(folder, "b/c") == ("b/c/a/x", "b/c/up")


def test_a_file_is_captured_at_its_place(folder: Path) -> None:
    assert captured(folder / "a/x", "b/y") == ("b/y",)


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "a/../../outside", "a/../a/x"])
def test_a_link_that_leaves_the_folder_or_might_is_refused(folder: Path, target: str) -> None:
    (folder / "up").symlink_to(target)
    with pytest.raises(SpecError, match=r"up is a link to .* which leaves the folder"):
        captured(folder)


def test_a_link_may_climb_as_far_as_the_folder(folder: Path) -> None:
    (folder / "a/up").symlink_to("../a/x")
    assert captured(folder) == ("a/up", "a/x")


def test_what_is_special_empty_or_a_link_itself_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("deps")
    (tmp_path / "empty/in").mkdir(parents=True)
    os.mkfifo(folder / "pipe")
    for source, said in ((tmp_path / "link", "is a symbolic link"), (tmp_path / "empty", "no file"), (folder, "pipe")):
        with pytest.raises(SpecError, match=said):
            captured(source)


def test_a_name_that_is_not_utf_8_is_refused(folder: Path) -> None:
    (folder / os.fsdecode(b"\xff")).write_text("x")
    with pytest.raises(SpecError, match="not UTF-8"):
        captured(folder)


def test_a_path_that_no_host_may_take_is_refused(folder: Path) -> None:
    at = os.open(folder, os.O_RDONLY)
    for _ in range(MOST_PATH_BYTES // 250 + 1):  # longer than the kernel takes in one word
        os.mkdir("d" * 250, dir_fd=at)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    with pytest.raises(SpecError, match=r"deps.*(above 4096|File name too long)"):
        captured(folder)


def test_a_tar_is_the_same_whoever_made_its_source_and_when(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "a").mkdir(parents=True, mode=0o700)
    (other / "a/x").write_text("x\n")
    (other / "a/x").chmod(0o600)
    os.utime(other / "a/x", (1, 1))
    first, second = tmp_path / "1.tar", tmp_path / "2.tar"
    capture.capture(folder, first)
    capture.capture(other, second)
    assert first.read_bytes() == second.read_bytes()


def test_more_than_a_host_shall_lay_out_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(MOST_BYTES)
    with pytest.raises(SpecError, match="holds more than 100000 entries or 2147483648 bytes"):
        captured(folder)
