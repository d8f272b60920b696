"""K: a guest that does not want to die."""

import os
import secrets
import signal
from dataclasses import replace

import pytest

from sandbox.spec import Bind, ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.sandbox_rooms import alone, bubblewrap, system_python, users, work_root

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


ALL = """
import os, signal
child = os.fork()
if child == 0:
    signal.pause()
os.kill(-1, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("user", users())
def test_k1_a_guest_that_kills_all_that_it_can_kills_its_own_and_nobody_else(user):
    limits = {name: getattr(LIMITS, name) for name in LIMITS.__slots__}
    order = {"do": "visit", "tries": {}, "filtered": True, "limits": limits}
    told = alone(user, {**order, "python": system_python(), "script": ALL})
    assert (told["code"], int(told["stdout"])) == (0, -signal.SIGKILL)


WRITERS = """
import os, signal
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
ready, told = os.pipe()
for one in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        fd = os.open(f"/cell/out/{one}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, b"x")
        os.write(told, b"x")
        while True:
            os.write(fd, b"x")
for _ in range(8):
    os.read(ready, 1)
"""


def test_b11_nothing_is_written_any_more_once_a_run_is_over():
    box = bubblewrap()
    for _ in range(5):
        out = work_root() / f"out-{secrets.token_hex(4)}"
        out.mkdir(mode=0o700)
        os.chown(out, *box.owner(0))
        argv = (system_python(), "-I", "-S", "-c", WRITERS)
        spec = replace(script("", Bind(out, "/cell/out", writable=True)), argv=argv)
        assert box.run(spec, Heard(), lambda: False).code == 0
        sizes = [file.stat().st_size for file in sorted(out.iterdir())]
        assert len(sizes) == 8
        assert min(sizes) > 0  # the control: they did write
        box.run(script("exit 0"), Heard(), lambda: False)  # some time, in which a survivor would have gone on
        assert [file.stat().st_size for file in sorted(out.iterdir())] == sizes
