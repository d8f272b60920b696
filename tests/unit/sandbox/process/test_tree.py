"""The order in which a tree is killed, and what proves that it is dead."""

import os
import subprocess

import pytest

from sandbox.errors import SandboxError, SandboxUnhealthyError
from tests.builders.sandbox_rooms import copy_of_the_package, drop_to, system_python
from tests.builders.sandbox_spawner import a_tree

NAMED = b'{"child-pid": 77, "pid-namespace": 4026530000}\n'


class Broken:
    """A control group that can't be killed."""

    def kill(self):
        raise SandboxError("cgroup.kill could not be set")

    def is_empty(self):
        return True


def test_a_group_that_can_not_be_killed_is_told_after_the_rest_was_killed():
    with a_tree(NAMED, fold=Broken()) as (tree, heard):
        with pytest.raises(SandboxError, match=r"cgroup\.kill"):
            tree.end()
        assert heard[-2:] == [b"kill", b"find 77"]


class Unreadable:
    """A control group of which nobody can say who is in."""

    def kill(self):
        pass

    def is_empty(self):
        raise SandboxError("cgroup.procs could not be read")


def test_a_group_that_can_not_be_looked_at_is_not_proven_empty():
    with a_tree(NAMED, fold=Unreadable()) as (tree, _), pytest.raises(SandboxUnhealthyError, match="control group"):
        tree.end()


def test_an_init_that_is_gone_is_dead():
    with a_tree(NAMED) as (tree, _):
        assert tree.end().report == ""


def test_an_init_whose_number_somebody_else_has_is_dead():
    with a_tree(NAMED, found=os.getpid()) as (tree, _):
        assert tree.end().report == ""


HIDDEN = """
import sys
from sandbox.errors import SandboxError, SandboxUnhealthyError
from sandbox_spawner import a_tree
with a_tree(sys.argv[1].encode(), found=1) as (tree, _):
    try:
        tree.end()
    except SandboxError as error:
        print(error)
"""


def test_an_init_that_may_not_be_looked_at_is_not_proven_dead():
    package = copy_of_the_package()
    words = (*drop_to("ordinary"), system_python(), "-B", "-c", HIDDEN, NAMED.decode())
    done = subprocess.run(words, cwd=package, capture_output=True, text=True, check=False, timeout=30)
    assert done.stderr == ""
    assert "may not be looked at, is not dead 5 s after SIGKILL" in done.stdout
