"""B9: a worker that is killed while it starts a sandbox leaves nothing alive."""

import os
import signal
import subprocess
from contextlib import suppress

import pytest

from tests.builders.naive_bubblewrap import naive_words
from tests.builders.sandbox_rooms import copy_of_the_package, drop_to, system_python, users
from tests.builders.sandbox_trees import is_soon, living


@pytest.mark.parametrize("user", users())
def test_b9_nothing_survives_a_worker_killed_at_a_random_moment_of_a_start(user):
    place = copy_of_the_package()
    race = (*drop_to(user), system_python(), "-B", str(place / "kill_race.py"), "40")
    done = subprocess.run(
        race, env={"PYTHONPATH": str(place)}, cwd="/", capture_output=True, text=True, check=False, timeout=150
    )
    assert (done.returncode, done.stdout[:8]) == (0, "0 of 40 "), done.stderr


def test_b9n_a_plain_bubblewrap_survives_its_worker_and_is_seen():
    mark = "guest-of-a-plain-bubblewrap"
    plain = [word for word in naive_words() if word != "--die-with-parent"]
    text = '"$@" & wait'
    worker = subprocess.Popen(
        ["sh", "-c", text, "sh", *plain, "--", "/usr/bin/sh", "-c", f": {mark}; echo ready; sleep 600"],
        stdout=subprocess.PIPE,
        cwd="/",
    )
    with worker:
        assert worker.stdout.readline() == b"ready\n"
        worker.kill()
        worker.stdout.close()
    survivors = living(mark)
    for pid in survivors:
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    assert survivors
    assert is_soon(lambda: living(mark) == [])
