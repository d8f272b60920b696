import io
import os
import socket
import tarfile
from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.planning import folder as folders
from farm.planning.folder import folder_paths, pack_folder, read_file


def members(body: bytes) -> list[tuple[str, int, int, int]]:
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as tar:
        return [(one.name, one.mode, one.size, one.uid + one.gid) for one in tar]


def a_folder(root: Path) -> Path:
    (root / "b").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "b" / "run.sh").write_text("#!/bin/sh\n")
    (root / "b" / "run.sh").chmod(0o700)
    (root / "a.txt").write_text("a")
    (root / "a.txt").chmod(0o666)
    return root


def test_a_folder_is_packed_sorted_with_two_modes_and_no_owner(tmp_path: Path) -> None:
    assert members(pack_folder(a_folder(tmp_path / "x"))) == [
        ("a.txt", 0o644, 1, 0),
        ("b", 0o755, 0, 0),
        ("b/run.sh", 0o755, 10, 0),
        ("empty", 0o755, 0, 0),
    ]


def test_the_same_files_elsewhere_and_later_are_the_same_bytes(tmp_path: Path) -> None:
    first = pack_folder(a_folder(tmp_path / "x"))
    other = a_folder(tmp_path / "deeper" / "y")
    os.utime(other / "a.txt", (1, 1))
    assert pack_folder(other) == first


def test_what_running_the_files_leaves_behind_is_no_input(tmp_path: Path) -> None:
    root = a_folder(tmp_path / "x")
    before = pack_folder(root)
    (root / "b" / "__pycache__").mkdir()
    (root / "b" / "__pycache__" / "run.pyc").write_text("x")
    assert pack_folder(root) == before


def test_files_are_listed_by_path(tmp_path: Path) -> None:
    assert folder_paths(a_folder(tmp_path / "x")) == ("a.txt", "b/run.sh")


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="there is no folder"):
        pack_folder(tmp_path / "none")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(SpecError, match="is not a folder"):
        pack_folder(tmp_path / "x")


def test_a_folder_without_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "x" / "y").mkdir(parents=True)
    with pytest.raises(SpecError, match="holds no file"):
        pack_folder(tmp_path / "x")


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    a_folder(tmp_path / "x")
    (tmp_path / "y").symlink_to("x")
    with pytest.raises(SpecError, match="y is a symbolic link; name the real folder"):
        pack_folder(tmp_path / "y")


@pytest.mark.parametrize("target", ["a.txt", "/etc/passwd", "nowhere", "b"])
def test_a_link_inside_is_refused_wherever_it_leads(tmp_path: Path, target: str) -> None:
    root = a_folder(tmp_path / "x")
    (root / "b" / "link").symlink_to(target)
    with pytest.raises(SpecError, match="b/link is a symbolic link"):
        pack_folder(root)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    root = a_folder(tmp_path / "x")
    os.mkfifo(root / "pipe")
    with pytest.raises(SpecError, match="pipe is neither a file nor a folder"):
        pack_folder(root)


def test_a_socket_is_refused(tmp_path: Path) -> None:
    root = a_folder(tmp_path / "x")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(root / "door"))
        with pytest.raises(SpecError, match="door is neither a file nor a folder"):
            pack_folder(root)


@pytest.mark.parametrize("name", [b"\xff", b"two\nlines"])
def test_a_name_that_cannot_be_printed_is_refused(tmp_path: Path, name: bytes) -> None:
    root = a_folder(tmp_path / "x")
    (root / os.fsdecode(name)).write_text("")
    with pytest.raises(SpecError, match="not printable UTF-8"):
        pack_folder(root)


def test_a_huge_file_is_refused_by_its_stated_limit(tmp_path: Path) -> None:
    root = a_folder(tmp_path / "x")
    os.truncate(root / "a.txt", folders.MOST_FOLDER_BYTES + 1)
    with pytest.raises(SpecError, match=r"a\.txt has 67108865 bytes, above the 67108864 allowed"):
        pack_folder(root)


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("12345")
    assert read_file(tmp_path / "f", 5) == b"12345"
    with pytest.raises(SpecError, match="f has 5 bytes, above the 4 allowed"):
        read_file(tmp_path / "f", 4)


def test_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SpecError, match="link is a symbolic link"):
        read_file(tmp_path / "link", 10)
    with pytest.raises(SpecError, match="pipe is not a regular file"):
        read_file(tmp_path / "pipe", 10)
    with pytest.raises(SpecError, match="there is no file"):
        read_file(tmp_path / "none", 10)
