"""Raw streams: on disk first."""

import os
from pathlib import Path

from farm.model import MIB
from sandbox.spec import Stream
from worker.collect.keeper import Keeper
from worker.collect.streams import RawStreams, keep_left_streams


def test_bytes_are_on_disk_before_anybody_reads_them(tmp_path: Path) -> None:
    seen: list[bytes] = []
    streams = RawStreams(tmp_path, "work", lambda _, __: seen.append((tmp_path / "work.stdout").read_bytes()))
    streams.sink(Stream.STDOUT, b"one")
    streams.sink(Stream.STDOUT, b"two")
    streams.close()
    assert seen == [b"one", b"onetwo"]


def test_each_output_is_kept_apart_and_nothing_where_nothing_was_said(tmp_path: Path) -> None:
    fed: list[bytes] = []
    streams = RawStreams(tmp_path, "work", lambda _, chunk: fed.append(chunk))
    streams.sink(Stream.STDERR, b"123456")
    streams.sink(Stream.STDERR, b"789")
    streams.close()
    keeper = Keeper()
    streams.keep(keeper, (Stream.STDERR,))
    assert [(one.artifact.role, one.body, one.artifact.truncated) for one in keeper.kept] == [
        ("session.work.stderr", b"123456789", True)
    ]
    assert fed == [b"123456", b"789"]


def test_what_a_dead_workers_sessions_had_said_is_found_and_nothing_else(tmp_path: Path) -> None:
    streams = RawStreams(tmp_path, "work", lambda _, __: None)
    streams.sink(Stream.STDOUT, b"so far")
    (tmp_path / "elsewhere").write_bytes(b"a secret")
    (tmp_path / "review.stdout").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "twice.stdout").hardlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "plan.stderr")
    (tmp_path / "fix.stderr").touch()
    (tmp_path / "ws").mkdir()
    keeper = Keeper()
    keep_left_streams(tmp_path, keeper)
    streams.close()
    assert [(one.artifact.role, one.body) for one in keeper.kept] == [("session.work.events", b"so far")]


def test_no_more_than_so_much_is_taken_of_what_was_left(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with (tmp_path / f"{name}.stdout").open("wb") as file:
            file.truncate(40 * MIB)
    keeper = Keeper()
    keep_left_streams(tmp_path, keeper)
    assert [(len(one.body) // MIB, one.artifact.truncated) for one in keeper.kept] == [(40, False), (24, True)]
