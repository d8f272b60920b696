"""Unpacking tars that nobody vouches for."""

import io
import tarfile
from pathlib import Path

import pytest

from worker.trees.archive import unpack
from worker.trees.errors import TreeError


def a_tar(*members: tarfile.TarInfo, body: bytes = b"x") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for member in members:
            member.size = len(body) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(body))
    return stream.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, mode
    return info


def test_files_folders_and_inner_links_are_unpacked_with_plain_modes(tmp_path: Path) -> None:
    body = a_tar(
        member("bin", tarfile.DIRTYPE, mode=0o777),
        member("bin/run", mode=0o4755),
        member("a/b.txt", mode=0o666),
        member("a/link", tarfile.SYMTYPE, "../bin/run"),
    )
    assert unpack(body, tmp_path) == ("bin/run", "a/b.txt", "a/link")
    assert (tmp_path / "bin/run").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "a/b.txt").stat().st_mode & 0o7777 == 0o644
    assert str((tmp_path / "a/link").readlink()) == "../bin/run"


@pytest.mark.parametrize(
    "bad",
    [
        [member("/etc/x")],
        [member("../x")],
        [member("a/../../x")],
        [member("a", tarfile.SYMTYPE, "/etc")],
        [member("a", tarfile.SYMTYPE, "../x")],
        [member("d/a", tarfile.SYMTYPE, "../../x")],
        [member("d/a", tarfile.SYMTYPE, "b/../../../x")],
        [member("a", tarfile.SYMTYPE, "."), member("a/x")],
        [member("a", tarfile.SYMTYPE, "b"), member("a")],
        [member("f"), member("l", tarfile.LNKTYPE, "f")],
        [member("p", tarfile.FIFOTYPE)],
        [member("c", tarfile.CHRTYPE)],
        [member(".git/config")],
        [member("./.git/hooks/post-checkout")],
        [member("a", tarfile.SYMTYPE, "")],
    ],
)
def test_what_could_reach_outside_is_refused(tmp_path: Path, bad: list[tarfile.TarInfo]) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    with pytest.raises(TreeError):
        unpack(a_tar(*bad), inside)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize(
    "bad",
    [
        [member("f"), member("f")],
        [member("f"), member("f", tarfile.DIRTYPE)],
        [member("f"), member("f", tarfile.SYMTYPE, "x")],
        [member("f", tarfile.DIRTYPE), member("f")],
        [member("f", tarfile.DIRTYPE), member("f", tarfile.SYMTYPE, "x")],
        [member("f"), member("f/x")],
        [member("f"), member("f/x", tarfile.DIRTYPE)],
        [member("f"), member("f/x/y", tarfile.SYMTYPE, "x")],
        [member("f" * 300)],
        [member("f" * 300, tarfile.DIRTYPE)],
        [member("/".join(["f" * 200] * 30)[1:])],
        [member("f", tarfile.SYMTYPE, "x/" * 3000)],
    ],
)
def test_what_no_folder_can_hold_is_the_tars_fault_and_named(tmp_path: Path, bad: list[tarfile.TarInfo]) -> None:
    with pytest.raises(TreeError, match="a tar holds 'f"):
        unpack(a_tar(*bad), tmp_path)


def test_a_disk_that_takes_no_file_is_not_the_tars_fault() -> None:
    with pytest.raises(OSError, match="/proc/self/f"):
        unpack(a_tar(member("f")), Path("/proc/self"))


def extended(record: bytes) -> bytes:
    """A tar of one file with an extended header that holds `record`."""
    header = tarfile.TarInfo("header")
    header.type, header.size = tarfile.XHDTYPE, len(record)
    blocks = (header.tobuf(tarfile.USTAR_FORMAT), record.ljust(512, b"\0"), tarfile.TarInfo("f").tobuf())
    return b"".join(blocks) + bytes(1024)


@pytest.mark.parametrize("record", [b"12 path=a\0b\n", b"25 GNU.sparse.map=1,2,3x\n", b"9999999999999999999 a=b\n"])
def test_a_header_that_makes_no_sense_is_refused(tmp_path: Path, record: bytes) -> None:
    with pytest.raises(TreeError, match="not a readable tar"):
        unpack(extended(record), tmp_path)


@pytest.mark.parametrize("body", [b"", b"not a tar at all" * 64, a_tar(member("f"))[:700]])
def test_bytes_that_are_no_whole_tar_are_refused_or_empty(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(TreeError):
        unpack(body, tmp_path)
