"""Preflight of docker looks for the host's variables and shared memory: who sees them fails it, and so do the blind."""

import os
import subprocess

import pytest

from sandbox.backends.docker.sight_drill import sight
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind, Stream


class Guest:
    """A backend whose guests say that, or else look from where we are."""

    def __init__(self, says=None, code=0):
        self._says, self._code = says, code

    def owner(self, _slot):
        return (os.geteuid(), os.getegid())

    def run(self, spec, sink, _stop):
        said = self._says
        if said is None:
            said = subprocess.run(spec.argv, env=dict(spec.env), capture_output=True, check=True).stdout
        sink(Stream.STDOUT, said)
        return Exit(ExitKind.EXITED, 0.1, code=self._code)


def failed(guest):
    return {probe.name for probe in sight(guest) if not probe.ok}


def test_a_guest_that_sees_itself_and_nothing_of_the_hosts_passes():
    assert failed(Guest(b"own\ntable\nfolder\n")) == set()


@pytest.mark.parametrize("says", [None, b""], ids=["sees all", "is blind"])
def test_a_guest_that_sees_all_or_is_blind_fails(says):
    assert failed(Guest(says)) == {"host's variables", "shared memory"}


@pytest.mark.parametrize(
    ("seen", "name"),
    [(b"variable", "host's variables"), (b"segment", "shared memory"), (b"file", "shared memory")],
)
def test_each_thing_of_the_hosts_that_is_seen_fails(seen, name):
    assert failed(Guest(b"own table folder " + seen)) == {name}


def test_a_look_that_does_not_finish_is_an_error():
    with pytest.raises(SandboxError, match="did not finish, exited 2"):
        list(sight(Guest(b"", code=2)))
