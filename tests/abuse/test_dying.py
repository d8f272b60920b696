"""K: a guest that does not want to die."""

from dataclasses import replace

from sandbox.spec import ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.sandbox_rooms import bubblewrap, system_python

# All wait until all are there, then all are busy at once: half of them in the init's session, half in one of their own.
CROWD = """
import os, signal
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
start, go = os.pipe()
for one in range(180):
    if os.fork() == 0:
        os.close(go)
        if one % 2:
            os.setsid()
        os.read(start, 1)
        if one == 179:
            print("busy", flush=True)
        while True:
            pass
os.close(go)
while True:
    pass
"""


def test_k6_an_init_that_is_left_no_share_of_the_processors_dies_with_all_others():
    # As many sessions as tasks in the init's own: its share is a ten-thousandth, and SIGKILL does not raise it.
    heard = Heard()
    limits = replace(LIMITS, processes=195, wall_s=60.0)
    spec = replace(script(""), argv=(system_python(), "-I", "-S", "-c", CROWD), limits=limits)
    exit_ = bubblewrap().run(spec, heard, lambda: bool(heard.stdout))
    assert exit_.kind is ExitKind.STOPPED
