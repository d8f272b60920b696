"""What is held lives; what nobody holds was left by a dead process."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.locks import abandoned, claim, try_lock


def test_what_is_held_can_not_be_taken_until_it_is_let_go(tmp_path: Path) -> None:
    held = try_lock(tmp_path)
    assert held is not None
    assert try_lock(tmp_path) is None
    held.close()
    again = try_lock(tmp_path)
    assert again is not None
    again.close()


def test_what_is_not_there_can_not_be_taken(tmp_path: Path) -> None:
    assert try_lock(tmp_path / "gone") is None


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OSError, match="link"):
        try_lock(tmp_path / "link")


def test_what_a_clearer_took_for_a_dead_ones_is_made_anew(tmp_path: Path) -> None:
    made = []

    def make(path: Path) -> None:
        path.mkdir()
        made.append(path)
        if len(made) == 1:
            assert list(abandoned(tmp_path)) == made
            path.rmdir()

    with closing(claim(tmp_path, make)) as held:
        assert held.path == made[1]
        assert list(abandoned(tmp_path)) == []


def test_who_never_gets_what_it_made_says_so(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=str(tmp_path)):
        claim(tmp_path, lambda _: None)


def test_what_is_abandoned_is_held_while_it_is_looked_at_and_files_are_nobodys(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    found = abandoned(tmp_path)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (a count)
    assert next(found) == tmp_path / "folder"
    assert list(abandoned(tmp_path)) == []
    found.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 (a count)


def test_who_holds_a_folder_that_only_its_holder_removes_finds_it_there(tmp_path: Path) -> None:
    end = time.monotonic() + 0.5
    folder = tmp_path / "folder"

    def take_and_remove() -> None:
        while time.monotonic() < end:
            with suppress(FileExistsError):
                folder.mkdir()
            held = try_lock(folder)
            if held is not None:
                with closing(held):
                    folder.rmdir()

    with ThreadPoolExecutor(3) as pool:
        takers = [pool.submit(take_and_remove) for _ in range(3)]
    assert [taker.exception() for taker in takers] == [None] * 3
