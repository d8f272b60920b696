"""The bubblewrap backend keeps the protocol: as whoever runs the tests and, when that is root, as an ordinary user."""

import os

import pytest

from sandbox.testing import SandboxConformance
from tests.builders.sandbox_rooms import AN_ORDINARY_USER, alone, bubblewrap

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs two users; as one, the suite itself ran as it")


class TestBubblewrap(SandboxConformance):
    netcat = "busybox nc"

    def make(self, folder):
        del folder
        return bubblewrap()


@pytest.fixture(scope="module")
def ordinary():
    return alone("ordinary", {"do": "conform"})


@needs_root
def test_an_ordinary_users_backend_conforms_as_well(ordinary):
    assert {name: end for name, end in ordinary["ends"].items() if end != "passed"} == {}
    assert len(ordinary["ends"]) == sum(name.startswith("test_") for name in dir(SandboxConformance))


@needs_root
def test_an_ordinary_users_guests_belong_to_that_user(ordinary):
    assert ordinary["owner"] == [AN_ORDINARY_USER, AN_ORDINARY_USER]


@needs_root
def test_each_slot_of_root_has_its_own_uid_and_never_roots():
    owners = [bubblewrap().owner(slot)[0] for slot in range(4)]
    assert len(set(owners)) == 4
    assert min(owners) > 0


class TestBubblewrapWithoutACompiler(SandboxConformance):
    netcat = "busybox nc"

    def make(self, folder):
        del folder
        return bubblewrap(compiler="")

    def test_the_facts_name_the_stand_ins(self):
        facts = self.backend.facts()
        assert facts["init"] == "python"
        assert facts["launcher"] in {"setpriv", None}
