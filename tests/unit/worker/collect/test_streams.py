"""Raw streams: on disk first, bounded."""

from pathlib import Path

from sandbox.spec import Stream
from worker.collect.streams import RawStreams


def test_bytes_are_on_disk_before_anybody_reads_them(tmp_path: Path) -> None:
    seen: list[bytes] = []
    streams = RawStreams(tmp_path, "work", 100, lambda _, __: seen.append((tmp_path / "work.stdout").read_bytes()))
    streams.sink(Stream.STDOUT, b"one")
    streams.sink(Stream.STDOUT, b"two")
    streams.close()
    assert seen == [b"one", b"onetwo"]


def test_a_stream_past_its_bound_is_cut_and_says_so(tmp_path: Path) -> None:
    fed: list[bytes] = []
    streams = RawStreams(tmp_path, "work", 4, lambda _, chunk: fed.append(chunk))
    streams.sink(Stream.STDERR, b"123456")
    streams.sink(Stream.STDERR, b"789")
    streams.close()
    assert (streams.body(Stream.STDERR), streams.was_cut(Stream.STDERR), fed) == (b"1234", True, [b"1234"])
    assert (streams.body(Stream.STDOUT), streams.was_cut(Stream.STDOUT)) == (b"", False)
