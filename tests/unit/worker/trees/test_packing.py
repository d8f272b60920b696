"""Folders that guests made, packed."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from worker.trees.archive import unpack
from worker.trees.errors import TreeError
from worker.trees.packing import MOST_BYTES, pack
from worker.trees.scan import go_on, scan


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "ws/app/dist"
    (made / "lib").mkdir(parents=True)
    (made / "lib/index.js").write_text("x\n")
    (made / "tool").write_text("#!/bin/sh\n")
    (made / "tool").chmod(0o700)
    (made / "main.js").symlink_to("lib/index.js")
    return tmp_path / "ws"


def packed(workspace: Path, *markers: str, folder: str = "app/dist") -> bytes:
    target = workspace.parent / "made.tar"
    target.unlink(missing_ok=True)
    pack(workspace, folder, target, markers, go_on)
    return target.read_bytes()


def test_what_was_packed_unpacks_to_the_same(workspace: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    unpack(packed(workspace, "absent"), again)
    assert scan(again).digest == scan(workspace / "app/dist").digest


def test_the_same_files_make_the_same_bytes(workspace: Path) -> None:
    first = packed(workspace)
    os.utime(workspace / "app/dist/tool", (1, 1))
    (workspace / "app/dist/lib/index.js").chmod(0o600)
    assert packed(workspace) == first
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        assert {(one.uid, one.gid, one.uname, one.mtime) for one in tar} == {(0, 0, "", 946684800)}


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("index", "the name 'lib/index.js' holds 'index'"),
        ("bin/sh", "the file 'tool' holds 'bin/sh'"),
        ("lib/", "the name 'lib/index.js' holds 'lib/'"),
    ],
)
def test_a_marker_in_a_name_or_in_a_file_is_named(workspace: Path, marker: str, said: str) -> None:
    with pytest.raises(TreeError, match=said):
        packed(workspace, "absent", marker)


def test_a_marker_in_a_link_is_found(workspace: Path) -> None:
    (workspace / "app/dist/other").symlink_to("gone-marker")
    with pytest.raises(TreeError, match="the link 'other' holds 'gone'"):
        packed(workspace, "gone")


def test_a_marker_across_two_pieces_of_a_large_file_is_found(workspace: Path) -> None:
    for before in range(16 * 1024 - 8, 16 * 1024 + 1):  # the standard library copies 16 KiB at a time
        (workspace / "app/dist/large").write_bytes(b"a" * before + b"SECRET" + b"b" * 40_000)
        with pytest.raises(TreeError, match="the file 'large' holds 'SECRET'"):
            packed(workspace, "SECRET")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../outside", "lib/../../../x"])
def test_a_link_out_of_the_folder_is_refused(workspace: Path, target: str) -> None:
    (workspace / "app/dist/out").symlink_to(target)
    with pytest.raises(TreeError, match=r"'out' is a link to .* which leaves the folder"):
        packed(workspace)


def test_a_folder_behind_a_link_is_not_the_folder(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret").write_text("s")
    (workspace / "app/linked").symlink_to(tmp_path / "elsewhere")
    for folder in ("app/linked", "app/linked/deeper", "app/absent", "app/dist/tool"):
        with pytest.raises(TreeError, match="is no folder"):
            packed(workspace, folder=folder)


def test_special_files_empty_folders_and_repositories_are_refused(workspace: Path) -> None:
    (workspace / "empty/in").mkdir(parents=True)
    with pytest.raises(TreeError, match="'empty' holds no file"):
        packed(workspace, folder="empty")
    os.mkfifo(workspace / "app/dist/pipe")
    with pytest.raises(TreeError, match="'pipe' is no file, folder or link"):
        packed(workspace)
    (workspace / "app/dist/.git").mkdir()
    with pytest.raises(TreeError, match=r"holds a \.git"):
        packed(workspace)


def test_more_than_a_host_shall_lay_out_is_refused(workspace: Path) -> None:
    with (workspace / "app/dist/large").open("wb") as file:
        file.truncate(MOST_BYTES)
    with pytest.raises(TreeError, match=r"holds \d entries and \d+ bytes"):
        packed(workspace)
