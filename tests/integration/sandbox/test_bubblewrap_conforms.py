"""The bubblewrap backend keeps the protocol: as whoever runs the tests and, when that is root, as an ordinary user."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sandbox
from sandbox.testing import SandboxConformance
from tests.builders.sandbox_rooms import bubblewrap, work_root

AN_ORDINARY_USER = 4242


class TestBubblewrap(SandboxConformance):
    def make(self, folder):
        del folder
        return bubblewrap()


ALONE = """
import json, sys, tempfile
from pathlib import Path
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.testing import SandboxConformance

backend = Bubblewrap(Path(sys.argv[1]))

class Alone(SandboxConformance):
    def make(self, folder):
        return backend

ends = {}
for name in sorted(vars(SandboxConformance)):
    if name.startswith("test_"):
        suite = Alone()
        suite.setup_method()
        try:
            getattr(suite, name)()
            ends[name] = "passed"
        except Exception as error:
            ends[name] = repr(error)
        finally:
            suite.teardown_method()
print(json.dumps({"owner": backend.owner(3), "ends": ends}))
"""


@pytest.fixture(scope="module")
def ordinary():
    """What the same suite says in a process of an ordinary user, on a copy of the package that it may read."""
    place = work_root() / "ordinary"
    shutil.copytree(Path(sandbox.__file__).parent, place / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    home = place / "home"
    home.mkdir()
    os.chown(home, AN_ORDINARY_USER, AN_ORDINARY_USER)
    drop = ["setpriv", f"--reuid={AN_ORDINARY_USER}", f"--regid={AN_ORDINARY_USER}", "--clear-groups"]
    python = sys.executable if Path(sys.executable).resolve().is_relative_to("/usr") else "/usr/bin/python3"
    done = subprocess.run(
        [*drop, python, "-B", "-c", ALONE, str(home / "work")], cwd=place, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="the suite above already ran as an ordinary user")
def test_an_ordinary_users_backend_conforms_as_well(ordinary):
    assert {name: end for name, end in ordinary["ends"].items() if end != "passed"} == {}
    assert len(ordinary["ends"]) == sum(name.startswith("test_") for name in vars(SandboxConformance))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
def test_an_ordinary_users_guests_belong_to_that_user(ordinary):
    assert ordinary["owner"] == [AN_ORDINARY_USER, AN_ORDINARY_USER]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives each slot its uid")
def test_each_slot_of_root_has_its_own_uid_and_never_roots():
    owners = [bubblewrap().owner(slot)[0] for slot in range(4)]
    assert len(set(owners)) == 4
    assert min(owners) > 0
