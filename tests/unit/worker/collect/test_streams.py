"""Raw streams: on disk first."""

from pathlib import Path

from sandbox.spec import Stream
from worker.collect.streams import RawStreams


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
    assert (streams.body(Stream.STDERR), streams.body(Stream.STDOUT), fed) == (b"123456789", b"", [b"123456", b"789"])
