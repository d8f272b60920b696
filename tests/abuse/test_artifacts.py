"""A: what a guest leaves where we look: only plain, small, printable files of its own come out."""

import os
import shutil
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from farm.reporting.text import one_line
from worker.collect.outputs import OutputCaps, Outputs, take_outputs
from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree
from worker.trees.scan import scan

RACE = Path(__file__).parents[2] / "ops" / "bench" / "swap_race.py"
SECRET = b"a secret of the host"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_bytes(SECRET)
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def taken(out: Path) -> Outputs:
    return take_outputs(out, OutputCaps())


def a2_link_to_a_file(out: Path) -> str:
    (out / "x").symlink_to(out.parent / "secret")
    return "x: Too many levels of symbolic links"


def a2_relative_link(out: Path) -> str:
    (out / "x").symlink_to("../secret")
    return "x: Too many levels of symbolic links"


def a3_link_to_a_folder(out: Path) -> str:
    (out / "x").symlink_to("..")
    return "x: Too many levels of symbolic links"


def a4_pipe(out: Path) -> str:
    os.mkfifo(out / "x")
    return "x: no regular file"


def a5_socket(out: Path) -> str:
    here = os.open(out, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/x")
    os.close(here)
    return "x: No such device or address"


def a6_hard_link(out: Path) -> str:
    os.link(out.parent / "secret", out / "x")
    return "x: linked elsewhere too"


def a7_sparse_terabyte(out: Path) -> str:
    with (out / "x").open("wb") as file:
        file.truncate(1 << 40)
    return f"x: larger than {16 << 20} bytes"


def a8_new_line(out: Path) -> str:
    (out / "x\ny").write_bytes(b"")
    return ": a name that is not printable UTF-8"


def a8_escape(out: Path) -> str:
    (out / "x\x1b[2J").write_bytes(b"")
    return ": a name that is not printable UTF-8"


def a8_override_of_direction(out: Path) -> str:
    (out / "x\u202etxt.exe").write_bytes(b"")
    return ": a name that is not printable UTF-8"


def a8_no_utf_8(out: Path) -> str:
    (out / os.fsdecode(b"x\xff")).write_bytes(b"")
    return ": a name that is not printable UTF-8"


def a12_setuid(out: Path) -> str:
    (out / "x").write_bytes(b"")
    (out / "x").chmod(0o4755)
    return "x: a program that would run as its owner"


def a13_device(out: Path) -> str:
    if os.geteuid() == 0:
        os.mknod(out / "x", 0o20666, os.makedev(1, 3))
        return "x: no regular file"
    with pytest.raises(PermissionError):
        os.mknod(out / "x", 0o20666, os.makedev(1, 3))
    (out / "x").symlink_to("/dev/null")
    return "x: Too many levels of symbolic links"


def a14_a_byte_over_the_cap(out: Path) -> str:
    with (out / "x").open("wb") as file:
        file.truncate((16 << 20) + 1)
    return f"x: larger than {16 << 20} bytes"


ATTACKS = [
    a2_link_to_a_file,
    a2_relative_link,
    a3_link_to_a_folder,
    a4_pipe,
    a5_socket,
    a6_hard_link,
    a7_sparse_terabyte,
    a8_new_line,
    a8_escape,
    a8_override_of_direction,
    a8_no_utf_8,
    a12_setuid,
    a13_device,
    a14_a_byte_over_the_cap,
]


def test_a1_a_plain_file_comes_out(out: Path) -> None:
    (out / "x").write_bytes(b"mine")
    found = taken(out)
    assert [(file.path, file.body) for file in found.taken] == [("x", b"mine")]
    assert found.refused == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_artifact_that_is_none_is_refused_by_name_and_reason(out: Path, attack: Callable[[Path], str]) -> None:
    reason = attack(out)
    (out / "good").write_bytes(b"good")
    found = taken(out)
    assert [file.path for file in found.taken] == ["good"]
    assert found.refused == [reason]


def test_a2n_a_naive_reader_follows_the_link(out: Path) -> None:
    a2_link_to_a_file(out)
    assert (out / "x").read_bytes() == SECRET


def test_a8_names_that_are_only_odd_are_kept(out: Path) -> None:
    for name in ("-rf", "x" * 255, "größe", ".hidden", "a b"):
        (out / name).write_bytes(b"")
    assert len(taken(out).taken) == 5


def go_down(place: Path, levels: int) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=descriptor)
        following = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = following
    os.close(descriptor)


def test_a9_five_thousand_levels_are_refused_and_removed(out: Path) -> None:
    go_down(out, 5000)
    assert taken(out).refused == ["/".join(["d"] * 17) + ": more than 16 folders deep"]
    with pytest.raises(TreeError, match="256 folders deep"):
        scan(out)
    remove_tree(out)
    assert not out.exists()


def test_a9n_the_standard_library_gives_up_on_them(out: Path) -> None:
    go_down(out, 5000)
    with pytest.raises((RecursionError, OSError)):
        shutil.rmtree(out)
    remove_tree(out)


def test_a10_a_flood_of_files_is_left_at_a_bounded_number(out: Path) -> None:
    for number in range(20_000):
        os.close(os.open(out / f"{number}", os.O_CREAT | os.O_WRONLY))
    before = time.process_time()
    found = taken(out)
    assert time.process_time() - before < 2
    assert len(found.taken) == 200
    assert found.refused[-1] == "…: more than 2000 entries" or len(found.refused) == 50


def test_a15_nothing_is_inflated(out: Path) -> None:
    bomb = zlib.compress(bytes(32 << 20))
    (out / "bomb.z").write_bytes(bomb)
    assert [file.body for file in taken(out).taken] == [bomb]


def test_a16_an_extended_attribute_does_not_come_out_and_does_no_harm(out: Path) -> None:
    (out / "x").write_bytes(b"mine")
    try:
        os.setxattr(out / "x", "user.note", b"hello")
    except OSError:
        pytest.skip("the file system of the temporary folder keeps no extended attributes")
    assert [file.body for file in taken(out).taken] == [b"mine"]


def test_a17_a18_no_swap_of_names_leads_outside_and_the_race_was_on() -> None:
    ran = subprocess.run([sys.executable, RACE, "2000"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("collector 0 leaks of 2000") == 2
    assert "None" not in ran.stdout


def test_a19_what_a_guest_wrote_can_not_steer_a_terminal() -> None:
    assert one_line("\x1b]0;owned\x07\x1b[2Jred\x1b[31m\u202e") == "red"
