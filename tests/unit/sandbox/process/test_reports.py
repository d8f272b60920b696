"""Bubblewrap's status, which arrives in pieces."""

import os

import pytest

from sandbox.process.reports import Child, Status

FIRST = b'{\n    "child-pid": 42,\n    "pid-namespace": 4026532000\n}\n'
LAST = b'{ "exit-code": 7 }\n'


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield Status(read), lambda piece: os.write(write, piece)
    os.close(read)
    os.close(write)


def test_the_child_is_known_once_its_document_is_whole(pipe):
    status, say = pipe
    for piece in (FIRST[:5], FIRST[5:20], FIRST[20:-2]):
        say(piece)
        status.read()
        assert status.child() is None
    say(FIRST[-2:])
    status.read()
    assert status.child() == Child(42, 4026532000)


def test_an_end_is_known_by_its_exit_code_alone(pipe):
    status, say = pipe
    say(FIRST)
    status.read()
    assert not status.has_exit_code()
    say(LAST)
    status.read()
    assert status.has_exit_code()
    assert status.child() == Child(42, 4026532000)
