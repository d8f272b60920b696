"""One output stream: passed on as it comes, cut at its cap."""

import os

from hypothesis import given
from hypothesis import strategies as st

from sandbox.spec import Stream
from sandbox.streams import Outlet


def read_all(body, cap):
    read, write = os.pipe()
    heard = bytearray()
    try:
        outlet = Outlet(read, Stream.STDOUT, lambda _stream, chunk: heard.extend(chunk), cap)
        os.write(write, body)
        os.close(write)
        outlet.drain()
    finally:
        os.close(read)
    return outlet, bytes(heard)


@given(body=st.binary(max_size=300), cap=st.integers(0, 300))
def test_the_sink_gets_the_beginning_up_to_the_cap(body, cap):
    outlet, heard = read_all(body, cap)
    assert heard == body[:cap]
    assert outlet.is_over_cap == (len(body) > cap)
    assert not outlet.is_open


def test_reading_does_not_wait_when_nothing_is_there():
    read, write = os.pipe()
    outlet = Outlet(read, Stream.STDERR, lambda _stream, _chunk: None, 10)
    assert outlet.read() is False
    assert outlet.is_open
    os.close(read)
    os.close(write)


def test_the_head_is_kept_for_a_message():
    outlet, _ = read_all(b"bwrap: no\n", 100)
    assert outlet.head == b"bwrap: no\n"
