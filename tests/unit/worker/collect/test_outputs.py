"""Taking files out of a folder that a hostile guest filled."""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from worker.collect.outputs import OutputCaps, take_outputs

CAPS = OutputCaps(files=3, entries=20, file_bytes=100, total_bytes=150, depth=2)


def taken(folder: Path, caps: OutputCaps = CAPS) -> dict[str, bytes]:
    return {file.path: file.body for file in take_outputs(folder, caps).taken}


def test_regular_files_come_out_by_path(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "sub/b.txt").write_text("B")
    assert taken(tmp_path) == {"a.txt": b"A", "sub/b.txt": b"B"}


def a_link(folder: Path) -> None:
    (folder / "x").symlink_to("/etc/passwd")


def a_link_to_a_folder(folder: Path) -> None:
    (folder / "x").symlink_to("/etc")


def a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "x")


def a_socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(folder, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{here}/x")
        os.close(here)


def a_hard_link(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.write_text("not yours")
    os.link(outside, folder / "x")


def too_large_and_sparse(folder: Path) -> None:
    with (folder / "x").open("wb") as file:
        file.truncate(1 << 40)


def an_escape_in_the_name(folder: Path) -> None:
    (folder / "x\x1b[2J").write_text("")


def no_utf_8_in_the_name(folder: Path) -> None:
    (folder / os.fsdecode(b"x\xff")).write_text("")


def too_deep(folder: Path) -> None:
    (folder / "x/x/x/x").mkdir(parents=True)
    (folder / "x/x/x/x/file").write_text("")


@pytest.mark.parametrize(
    "attack",
    [
        a_link,
        a_link_to_a_folder,
        a_pipe,
        a_socket,
        a_hard_link,
        too_large_and_sparse,
        an_escape_in_the_name,
        no_utf_8_in_the_name,
        too_deep,
    ],
)
def test_an_attack_is_refused_by_name_and_the_rest_comes_out(tmp_path: Path, attack: Callable[[Path], None]) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "good").write_text("good")
    attack(folder)
    outputs = take_outputs(folder, CAPS)
    assert [file.path for file in outputs.taken] == ["good"]
    assert len(outputs.refused) == 1


def test_the_caps_on_number_and_sum_hold(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}").write_bytes(b"x" * 60)
    assert len(taken(tmp_path)) == 2
    assert len(taken(tmp_path, OutputCaps(files=3, total_bytes=10_000))) == 3
    assert len(take_outputs(tmp_path, OutputCaps(entries=5)).taken) == 5


def test_a_swap_between_file_and_link_never_leads_outside(tmp_path: Path) -> None:
    folder, secret = tmp_path / "out", tmp_path / "secret"
    folder.mkdir()
    secret.write_text("secret")
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            (folder / "n").write_text("mine")
            (folder / "n").replace(folder / "x")
            (folder / "m").symlink_to(secret)
            (folder / "m").replace(folder / "x")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        bodies = {body for _ in range(300) for body in taken(folder).values()}
    finally:
        ended.set()
        thread.join()
    assert b"secret" not in bodies
