"""What is seen at one path of a workspace that somebody prepared."""

import os
from pathlib import Path

import pytest

from worker.checks.file_checks import Absent, Found, NoText, Text, Unreached
from worker.checks.looking import look


def seen(workspace: Path, path: str, most_bytes: int = 100) -> Found:
    return look(workspace, path, most_bytes)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "a.txt").write_bytes("größer\n".encode())
    (tmp_path / "outside.txt").write_text("outside")
    return workspace


def test_a_text_is_read_whole(workspace: Path) -> None:
    assert seen(workspace, "src/a.txt") == Text("größer\n")


@pytest.mark.parametrize("path", ["missing", "src/missing", "src/a.txt/below", "missing/below"])
def test_nothing_is_there(workspace: Path, path: str) -> None:
    assert seen(workspace, path) == Absent()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"x" * 101, "the file is larger than 100 bytes"),
        (b"a\0b", "the file holds a NUL byte"),
        (b"\xff\xfe", "the file is not UTF-8"),
    ],
)
def test_a_file_above_the_limit_or_binary_or_invalid_has_no_content(workspace: Path, body: bytes, why: str) -> None:
    (workspace / "odd").write_bytes(body)
    assert seen(workspace, "odd") == NoText(why)


def test_a_link_is_not_followed_wherever_it_leads(workspace: Path) -> None:
    (workspace / "inside").symlink_to("src/a.txt")
    (workspace / "outside").symlink_to("../outside.txt")
    (workspace / "dangling").symlink_to("nowhere")
    (workspace / "folder").symlink_to("src")
    for path in ("inside", "outside", "dangling", "folder/a.txt", "folder/missing"):
        assert seen(workspace, path) == Unreached("a link stands on the way"), path


def test_what_is_no_regular_file_is_not_reached_and_holds_nobody_up(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    for path in ("pipe", "src"):
        assert seen(workspace, path) == Unreached("the path is no regular file"), path
