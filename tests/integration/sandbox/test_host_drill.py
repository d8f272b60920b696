"""Preflight of docker dials the host's sockets: who reaches them fails it, and so does a caller that reaches nobody."""

import os
import secrets
import subprocess

import pytest

from sandbox.backends.docker.host_drill import host_sockets
from sandbox.process.tools import prepare_container
from sandbox.spec import Exit, ExitKind, Stream
from tests.builders.sandbox_rooms import work_root

NOBODY = b"host ENOENT ECONNREFUSED ECONNREFUSED\n"


class Outside:
    """A backend whose guests are where we are."""

    def __init__(self, says=None):
        self._says = says

    def owner(self, _slot):
        return (os.geteuid(), os.getegid())

    def run(self, spec, sink, _stop):
        (caller,) = (str(bind.source) for bind in spec.binds)
        sink(
            Stream.STDOUT,
            self._says or subprocess.run([caller, *spec.argv[1:]], capture_output=True, check=True).stdout,
        )
        return Exit(ExitKind.EXITED, 0.1, code=0)


@pytest.fixture
def caller():
    return prepare_container(work_root() / "callers").caller


@pytest.fixture
def folder():
    place = work_root() / f"host-{secrets.token_hex(4)}"
    place.mkdir()
    yield place
    assert list(place.iterdir()) == []


def failed(backend, folder, caller):
    return [probe.name for probe in host_sockets(backend, folder, caller) if not probe.ok]


def test_a_guest_that_reaches_the_host_fails(folder, caller):
    assert failed(Outside(), folder, caller) == ["host's sockets"]


def test_a_guest_that_reaches_none_passes_and_one_that_says_nothing_does_not(folder, caller):
    assert failed(Outside(says=NOBODY), folder, caller) == []
    for says in (b"\n", b"host ENOENT ECONNREFUSED\n", b"host ENOENT ECONNREFUSED word\n"):
        assert failed(Outside(says=says), folder, caller) == ["host's sockets"]


def test_a_caller_that_reaches_nobody_outside_either_proves_nothing(folder):
    silent = folder.with_name("silent")
    silent.write_text("#!/bin/sh\n")
    silent.chmod(0o755)
    assert failed(Outside(NOBODY), folder, silent) == ["host's sockets, control"]
