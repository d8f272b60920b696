"""P, E and O: what a naive bubblewrap lets a guest do, and that ours does not: each attack beside its control."""

import errno
import os
import platform
import subprocess
from dataclasses import replace

import pytest

from sandbox.spec import Bind, ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.naive_bubblewrap import naive
from tests.builders.sandbox_rooms import alone, bubblewrap, system_python, users, work_root

# exit_group(42), over the instruction to which process 1 returns when its wait ends.
FORGES = """
import os, platform, sys
code = {
    "x86_64": "bf2a000000b8e70000000f05",
    "aarch64": "400580d2c80b80d2010000d4",
}[platform.machine()]
try:
    at = int(open("/proc/1/syscall").read().split()[-1], 16)
    memory = os.open("/proc/1/mem", os.O_RDWR)
    os.pwrite(memory, bytes.fromhex(code), at)
except OSError as error:
    print(error.errno, flush=True)
os._exit(0)
"""

# The tracer stays behind, so that process 1 stays stopped: PTRACE_ATTACH is 16.
STOPS = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
done, tell = os.pipe()
if os.fork() == 0:
    end = libc.ptrace(16, 1, None, None)
    os.write(tell, str(0 if end == 0 else ctypes.get_errno()).encode())
    if end == 0:
        os.waitpid(1, 0x40000000)
        signal.pause()
    os._exit(0)
print(os.read(done, 9).decode(), flush=True)
"""

SECRET = "sk-word-of-the-environment"  # noqa: S105 (a word to look for)
READS = "print(open('/proc/1/environ').read())"


def _ours(user, text, *, filtered=True):
    limits = {name: getattr(LIMITS, name) for name in LIMITS.__slots__}
    order = {"do": "visit", "tries": {}, "filtered": filtered, "limits": limits}
    return alone(user, {**order, "python": system_python(), "script": text}, env={"PATH": "/usr/bin", "KEY": SECRET})


@pytest.mark.parametrize("user", users())
@pytest.mark.parametrize("filtered", [True, False], ids=["filtered", "unfiltered"])
def test_p13_nothing_is_written_into_process_1_with_the_filter_or_without(user, filtered):
    told = _ours(user, FORGES, filtered=filtered)
    assert (told["code"], int(told["stdout"])) == (0, errno.EACCES)


@pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="the forged code is for two machines")
def test_p13n_in_bubblewraps_own_process_1_the_guests_code_runs():
    assert naive(script=FORGES).returncode == 42


@pytest.mark.parametrize("user", users())
def test_p15_process_1_can_not_be_stopped_by_a_tracer_even_without_the_filter(user):
    told = _ours(user, STOPS, filtered=False)
    assert (told["code"], int(told["stdout"])) == (0, errno.EPERM)


def test_p15n_bubblewraps_own_process_1_is_stopped_and_never_ends():
    with pytest.raises(subprocess.TimeoutExpired) as ended:
        naive(script=STOPS, limit_s=2.0)
    assert ended.value.stdout.strip() in {b"0", "0"}


def test_p15_whatever_holds_a_guest_up_the_wall_limit_ends_it():
    spec = replace(script("kill -STOP $$"), limits=replace(LIMITS, wall_s=0.5))
    exit_ = bubblewrap().run(spec, Heard(), lambda: False)
    assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "wall")
    assert exit_.wall_s < 3


@pytest.mark.parametrize("user", users())
def test_e4_no_word_of_the_workers_environment_is_in_process_1(user):
    told = _ours(user, READS)
    assert SECRET not in told["stdout"]
    assert "PermissionError" in told["stderr"]


def test_e4n_bubblewraps_own_process_1_keeps_what_clearenv_took_away():
    assert SECRET in naive("--clearenv", script=READS, env={"KEY": SECRET}).stdout


def test_e2n_a_descriptor_that_nobody_closes_is_read_inside():
    read, write = os.pipe()
    os.write(write, SECRET.encode())
    os.close(write)
    text = f"import os; print(os.read({read}, 99).decode())"
    assert naive(script=text, pass_fds=(read,)).stdout.strip() == SECRET
    os.close(read)


@pytest.fixture
def workspace():
    place = work_root() / f"o-{os.urandom(4).hex()}"
    for folder in (place, place / "ws", place / "hidden", place / "victim"):
        folder.mkdir()
        folder.chmod(0o777)
    (place / "hidden" / "check").write_text("hidden")
    return place


def _mounted_inside(place, name):
    binds = ("--bind", place / "ws", "/ws", "--ro-bind", place / "hidden", f"/ws/{name}")
    return naive(*binds, command=("cat", f"/ws/{name}/check"))


def test_o4n_hidden_files_mounted_inside_a_workspace_leave_their_place_behind(workspace):
    assert _mounted_inside(workspace, "oracle-x").stdout == "hidden"
    assert [path.name for path in (workspace / "ws").iterdir()] == ["oracle-x"]


def test_o5n_a_link_in_the_place_of_the_mount_keeps_the_check_from_starting(workspace):
    (workspace / "ws" / "oracle-x").symlink_to("/nowhere")
    done = _mounted_inside(workspace, "oracle-x")
    assert done.returncode != 0
    assert "hidden" not in done.stdout.split()


def test_o4_hidden_files_beside_a_workspace_leave_nothing(workspace):
    heard = Heard()
    binds = (Bind(workspace / "ws", "/cell/ws", writable=True), Bind(workspace / "hidden", "/cell/.o-1"))
    bubblewrap().run(script("cat /cell/.o-1/check", *binds), heard, lambda: False)
    assert heard.stdout == b"hidden"
    assert list((workspace / "ws").iterdir()) == []
