"""Opening below a folder: the kernel's way and the stand-in refuse alike."""

import errno
import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from worker.trees.opening import Beneath, has_openat2, open_by_kernel, open_by_steps

Open = Callable[[int, str, int], int]

both = pytest.mark.parametrize("opens", [open_by_kernel, open_by_steps])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text("secret")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub/file").write_text("mine")
    (root / "link").symlink_to("../outside")
    (root / "inner").symlink_to("sub/file")
    (root / "way").symlink_to("sub")
    (root / "up").symlink_to("..")
    os.mkfifo(root / "pipe")
    return root


def opened(folder: Path, opens: Open, path: str) -> bytes:
    root = os.open(folder, os.O_RDONLY)
    try:
        descriptor = opens(root, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    finally:
        os.close(root)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def test_this_kernel_has_the_call() -> None:
    assert has_openat2()


@both
def test_a_file_below_is_opened(folder: Path, opens: Open) -> None:
    assert opened(folder, opens, "sub/file") == b"mine"


@both
def test_a_pipe_does_not_block(folder: Path, opens: Open) -> None:
    assert opened(folder, opens, "pipe") == b""


def open_descriptors() -> int:
    gc.collect()  # what earlier tests left to the collector must not be closed between two counts
    return len(list(Path("/proc/self/fd").iterdir()))


@both
@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("link", errno.ELOOP),
        ("inner", errno.ELOOP),
        ("way/file", errno.ELOOP),
        ("up/outside", errno.ELOOP),
        ("../outside", errno.EXDEV),
        ("/etc/passwd", errno.EXDEV),
        ("sub/none", errno.ENOENT),
        ("sub/file/x", errno.ENOTDIR),
    ],
)
def test_any_other_way_is_refused(folder: Path, opens: Open, path: str, number: int) -> None:
    before = open_descriptors()
    with pytest.raises(OSError, match=r".") as raised:
        opened(folder, opens, path)
    assert raised.value.errno == number
    assert open_descriptors() == before


@both
def test_another_file_system_is_not_entered(opens: Open) -> None:
    with pytest.raises(OSError, match=r"cross-device") as raised:
        opened(Path("/"), opens, "proc/version")
    assert raised.value.errno == errno.EXDEV


@both
def test_no_magic_link_of_proc_is_followed(folder: Path, opens: Open) -> None:
    del folder
    with pytest.raises(OSError, match=r"symbolic links"):
        opened(Path("/proc"), opens, f"{os.getpid()}/root/etc/passwd")


def test_a_link_is_read_and_not_followed(folder: Path) -> None:
    with Beneath(folder) as root:
        assert root.link("up") == b".."


def test_a_name_with_a_nul_is_refused(folder: Path) -> None:
    with Beneath(folder) as root, pytest.raises(OSError, match="NUL"):
        root.file("sub/file\0x")
