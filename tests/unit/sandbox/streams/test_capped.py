"""A sink's share of one stream."""

from sandbox.spec import Stream
from sandbox.streams import Capped
from sandbox.testing import Heard


def test_what_goes_over_the_cap_is_dropped_and_told():
    heard = Heard()
    capped = Capped(Stream.STDOUT, heard, 4)
    capped.pass_on(b"abcd")
    assert not capped.is_over_cap
    capped.pass_on(b"e")
    assert (heard.stdout, capped.is_over_cap) == (b"abcd", True)
