"""A worker that is killed while it starts a sandbox leaves nothing alive."""

import subprocess
import sys
from pathlib import Path

import sandbox

ROOT = Path(sandbox.__file__).parents[1]


def test_nothing_survives_a_worker_killed_at_a_random_moment_of_a_start():
    race = (sys.executable, str(ROOT / "ops/bench/kill_race.py"), "40")
    done = subprocess.run(race, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=150)
    assert (done.returncode, done.stdout[:8]) == (0, "0 of 40 "), done.stderr
