"""The one process that starts every sandbox: with it they live, with it they die."""

import fcntl
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import sandbox
from sandbox.backends import program
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.errors import SandboxError, SandboxUnavailableError
from sandbox.process.launch import Launch, launch
from sandbox.process.spawner import Order, Spawner
from sandbox.spec import Bind, ExitKind
from sandbox.testing import Heard, script
from tests.builders.sandbox_rooms import alone, bubblewrap, users, work_root
from tests.builders.sandbox_trees import is_soon, living, spawners

COMPILERS = [None, ""]


def test_a_worker_has_one_spawner_however_many_sandboxes_it_runs():
    for compiler in COMPILERS:
        box = Bubblewrap(work_root() / f"work-{compiler}", compiler)
        before = len(spawners())
        for _ in range(3):
            assert box.run(script("exit 0"), Heard(), lambda: False).code == 0
        assert len(spawners()) == before + 1
        del box
        assert len(spawners()) == before


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_spawner_that_is_killed_takes_its_guests_with_it_and_another_is_had(compiler):
    box = Bubblewrap(work_root() / f"work-{compiler}", compiler)
    others = set(spawners())
    heard, out = Heard(), work_root() / f"out-of-a-killed-spawner-{compiler}"
    out.mkdir(mode=0o700)
    os.chown(out, *box.owner(0))

    def murder():
        if heard.stdout:
            for pid in set(spawners()) - others:
                os.kill(pid, signal.SIGKILL)
        return False

    text = "exec 9>/cell/out/lock; flock 9; (setsid sleep 600 &); echo ready; sleep 600"
    with pytest.raises(SandboxError, match="spawner was killed"):
        box.run(script(text, Bind(out, "/cell/out", writable=True)), heard, murder)
    with (out / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert box.run(script("exit 0"), Heard(), lambda: False).code == 0


def test_a_sandbox_outlives_the_thread_that_first_needed_the_spawner():
    box = Bubblewrap(work_root() / "work-None")
    first = threading.Thread(target=lambda: box.run(script("exit 0"), Heard(), lambda: False))
    first.start()
    first.join()
    assert box.run(script("sleep 0.05"), Heard(), lambda: False).kind is ExitKind.EXITED


WITH_A_CHILD = """
import os, sys
from pathlib import Path
from sandbox.backends import program
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.testing import Heard, script
box = Bubblewrap(Path(sys.argv[1]))
never = lambda: False
box.run(script("exit 0"), Heard(), never)
def say(stream, chunk):
    if os.fork() == 0:
        print("forked", flush=True)
        sys.stdin.read()
        print(box.run(script("exit 5"), Heard(), never).code, flush=True)
        os._exit(0)
box.run(script(sys.argv[2]), say, never)
"""


def test_a_fork_of_the_worker_neither_keeps_the_guests_alive_nor_ends_them():
    mark = "guest-of-a-worker-that-forked"
    words = (sys.executable, "-c", WITH_A_CHILD, str(work_root() / "work-None"), f": {mark}; echo ready; sleep 600")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, cwd=Path(sandbox.__file__).parents[1], **pipes) as owner:
        assert owner.stdout.readline() == b"forked\n"
        assert living(f": {mark}; echo") != [str(owner.pid)]
        owner.kill()
        owner.wait()
        assert is_soon(lambda: len(living(mark)) == 1)  # the fork alone
        owner.stdin.close()
        assert owner.stdout.readline() == b"5\n"  # by a spawner of its own


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_run_that_is_given_up_is_killed(compiler):
    bubblewrap(compiler).run(script("exit 0"), Heard(), lambda: False)
    spawner = Spawner(bubblewrap(compiler)._tools.spawner_words, {"PATH": "/usr/bin:/bin"})
    read, write = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    words = os.memfd_create("words")
    os.write(words, b"/bin/sleep\x00600\x00")
    channel = spawner.start(Order(words, null, write, null, null, null, null))
    os.close(write)
    channel.close()
    assert os.read(read, 1) == b""
    for fd in (read, null, words):
        os.close(fd)
    spawner.close()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_words_that_name_nothing_end_with_the_launchers_own_code(compiler):
    spawner = Spawner(bubblewrap(compiler)._tools.spawner_words, {})
    read, write = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    words = os.memfd_create("words")
    os.write(words, b"/nowhere\x00")
    channel = spawner.start(Order(words, null, null, write, null, null, null))
    os.close(write)
    assert b"launcher: /nowhere: No such file" in os.read(read, 200)
    assert is_soon(lambda: channel.read() or channel.ended is not None)
    assert channel.find(1 << 21) is None
    channel.close()
    for fd in (read, null, words):
        os.close(fd)
    spawner.close()


NOTHING = Order(*[0] * 7)
"""An order that can't be kept, where that is not asked for."""


def test_a_spawner_that_can_not_be_is_told():
    for words in (("/nowhere/spawner",), ("/bin/true",)):
        with pytest.raises(SandboxUnavailableError, match="spawner"):
            Spawner(words, {}).start(NOTHING)


@pytest.mark.parametrize("user", users())
def test_the_guest_sees_neither_spawner_nor_bubblewrap(user):
    listing = "import os, sys; print(sorted(int(n) for n in os.listdir('/proc') if n.isdigit()))"
    limits = {
        "wall_s": 20,
        "memory_bytes": 1 << 30,
        "processes": 8,
        "file_size_bytes": 1 << 20,
        "open_files": 64,
        "output_bytes": 4096,
        "tmp_bytes": 1 << 20,
    }
    order = {"do": "visit", "python": "/usr/bin/python3", "tries": [], "script": listing, "limits": limits}
    assert alone(user, {**order, "filtered": True})["stdout"] == "[1, 2]\n"


STUBBORN = """
import os, socket, sys, time
ours = socket.socket(fileno=int(sys.argv[1]))
child = os.fork()
if child:
    os.waitpid(child, 0)
else:
    socket.send_fds(ours, [b"ready"], [os.pidfd_open(os.getpid())])
    time.sleep(600)
"""


def test_a_spawner_that_does_not_end_with_its_socket_is_told_and_killed():
    mine = f"{STUBBORN}# started by {os.getpid()}"
    spawner = Spawner((sys.executable, "-I", "-c", mine), {})
    spawner.start(NOTHING).close()
    with pytest.raises(SandboxError, match="spawner is not dead 5 s"):
        spawner.close()
    assert living(mine) == []
    spawner.close()


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_start_that_is_short_of_descriptors_is_our_failure_and_leaves_none_open():
    box = bubblewrap()
    spawner = Spawner(box._tools.spawner_words, program.BARE_ENV)
    spawner.start(NOTHING).close()
    order = Launch("/bin/true", (), (), b"input", b"", box.owner(0), drops=False)
    gc.collect()  # what others left is closed now, not while we count
    before, (soft, hard) = open_descriptors(), resource.getrlimit(resource.RLIMIT_NOFILE)
    for room in range(20):
        highest = max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + room, hard))
        try:
            launch(spawner, order).close()
        except SandboxError as error:
            assert "Too many open files" in str(error)  # noqa: PT017 (at the end there is room)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert open_descriptors() == before
    spawner.close()
