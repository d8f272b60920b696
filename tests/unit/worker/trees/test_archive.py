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
        [member("f"), member("f")],
    ],
)
def test_what_could_reach_outside_is_refused(tmp_path: Path, bad: list[tarfile.TarInfo]) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    with pytest.raises(TreeError):
        unpack(a_tar(*bad), inside)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("body", [b"", b"not a tar at all" * 64, a_tar(member("f"))[:700]])
def test_bytes_that_are_no_whole_tar_are_refused_or_empty(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(TreeError):
        unpack(body, tmp_path)
