"""The unsafe_host backend keeps what it says it keeps, lacks what it says it lacks, and has to be asked for by name."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends.unsafe_host import UnsafeHost
from sandbox.errors import SandboxRefusedError, SandboxUnavailableError
from sandbox.spec import Bind, Door, ServerRoom, ToolRoom
from sandbox.testing import Guarantee, Heard, SandboxConformance, script
from tests.builders.sandbox_rooms import work_root
from tests.services.waiting import wait_until

_WORKER = """
import sys
from pathlib import Path
from sandbox.backends.unsafe_host import UnsafeHost
from sandbox.testing import script
text = "trap '' TERM HUP INT; (setsid sleep 100 & echo $!); echo $$; sleep 100"
sink = lambda _stream, chunk: print(chunk.decode(), end="", flush=True)
UnsafeHost(Path(sys.argv[1]), is_allowed=True).run(script(text), sink, lambda: False)
"""


class TestUnsafeHost(SandboxConformance):
    lacks = frozenset(Guarantee)

    def make(self, folder):
        del folder
        return UnsafeHost(work_root() / "host", is_allowed=True)

    def guest(self, slot):
        return self.backend.owner(slot)

    def test_a_target_is_replaced_where_it_is_a_path_and_nowhere_else(self):
        heard = Heard()
        bind = Bind(self.folder, "/cell/out")
        text = "echo /cell/out /cell/out/x /cell/outer a/cell/out '/cell/out' $MARK; pwd"
        spec = replace(script(text, bind), env={"MARK": "/cell/out/y:/cell/out"}, cwd="/cell/out")
        self.run(spec, heard)
        at = str(self.folder)
        assert heard.stdout.decode().split() == [
            *(at, f"{at}/x", "/cell/outer", "a/cell/out", at, f"{at}/y:{at}"),
            at,
        ]

    def test_nothing_is_left_of_the_private_folders(self):
        self.run(script("touch $HOME/x $TMPDIR/y"))
        assert [place.name for place in (work_root() / "host").glob("host-*")] == []

    def test_the_facts_say_that_nothing_is_contained(self):
        assert (self.backend.facts()["backend"], self.backend.facts()["containment"]) == ("unsafe-host", "none")


def test_a_killed_workers_commands_die_with_it():
    words = [sys.executable, "-c", _WORKER, str(work_root() / "killed-host")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as worker:
        pids = [int(worker.stdout.readline()) for _ in range(2)]
        os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 5)


@pytest.mark.parametrize(
    "asked",
    [{"door": Door(Path("/socket"))}, {"tools": ToolRoom(Path("/socket"))}, {"servers": ServerRoom(Path("/socket"))}],
)
def test_a_door_or_a_room_is_refused_rather_than_left_out(asked):
    with pytest.raises(SandboxRefusedError, match="no door and no rooms"):
        UnsafeHost(work_root() / "host", is_allowed=True).run(replace(script(""), **asked), Heard(), lambda: False)


def test_it_is_refused_unless_it_is_allowed_by_name(tmp_path):
    with pytest.raises(SandboxUnavailableError, match="FARM_ALLOW_UNSAFE_HOST=yes"):
        UnsafeHost(tmp_path)


def test_it_is_refused_where_ci_is_set_even_if_allowed(tmp_path):
    with pytest.raises(SandboxUnavailableError, match="where CI is set"):
        UnsafeHost(tmp_path, is_allowed=True, is_ci=True)
