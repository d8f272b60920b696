import socket
import struct

from hypothesis import given
from hypothesis import strategies as st

from sandbox.backends.docker.talk import Ear, LastWord, Talk, opening
from sandbox.spec import Stream
from sandbox.streams import Capped
from sandbox.testing import Heard

NONCE = b"00ff" * 8


def _ear(cap=1000):
    heard = Heard()
    return Ear(NONCE, Capped(Stream.STDERR, heard, cap)), heard


@given(st.binary(max_size=60), st.sampled_from([b"", NONCE[:5], NONCE[:31]]), st.data())
def test_the_guests_bytes_arrive_whole_and_the_last_word_never_however_they_are_cut(text, teaser, data):
    text += teaser
    whole = text + NONCE + b"exited 3 1500000\n"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    ear, heard = _ear()
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        ear.hear(whole[start:end])
    assert ear.last_word() == LastWord("exited", 3, 1.5)
    assert heard.stderr == text


def test_a_last_word_names_what_was_reached():
    ear, _ = _ear()
    ear.hear(NONCE + b"signaled 9 0 tmp\n")
    assert ear.last_word() == LastWord("signaled", 9, 0.0, ("tmp",))


def test_an_init_that_said_nothing_loses_none_of_the_guests_bytes():
    ear, heard = _ear()
    ear.hear(b"text" + NONCE[:9])
    assert heard.stderr == b"text"
    assert ear.last_word() is None
    assert heard.stderr == b"text" + NONCE[:9]


def test_both_outputs_are_taken_apart_whatever_pieces_the_socket_gives():
    ours, theirs = socket.socketpair()
    heard = Heard()
    ear = Ear(NONCE, Capped(Stream.STDERR, heard, 100))
    pieces = b"".join(struct.pack(">BxxxL", number, len(text)) + text for number, text in ((1, b"one"), (2, b"two")))
    with Talk(ours, opening(NONCE, b"filter", b"input"), Capped(Stream.STDOUT, heard, 100), ear) as talk, theirs:
        for at in range(len(pieces)):
            theirs.sendall(pieces[at : at + 1])
            assert talk.hear()
        assert not talk.hear()
        talk.say()
        assert theirs.recv(1000) == NONCE + b"00000006" + b"0000000000000005" + b"filter" + b"input"
        theirs.shutdown(socket.SHUT_WR)
        assert not talk.hear()
        assert not talk.is_open
    ear.last_word()
    assert (heard.stdout, heard.stderr) == (b"one", b"two")
