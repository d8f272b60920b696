"""What the sandbox says and leaves behind when its own parts fail, are missing or are killed."""

import fcntl
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import sandbox
from sandbox.backends import program
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.errors import SandboxError, SandboxUnavailableError
from sandbox.process.tools import prepare
from sandbox.spec import Bind, ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.sandbox_rooms import AN_ORDINARY_USER, bubblewrap, work_root
from tests.builders.sandbox_trees import bubblewraps, children_of, living

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to others, or drops root")
AS_ANOTHER = ("setpriv", f"--reuid={AN_ORDINARY_USER}", f"--regid={AN_ORDINARY_USER}", "--clear-groups")
DROP = AS_ANOTHER if os.geteuid() == 0 else ()


@pytest.fixture
def out(request):
    place = work_root() / f"out-{abs(hash(request.node.name))}"
    place.mkdir(mode=0o700)
    os.chown(place, *bubblewrap().owner(0))
    return Bind(place, "/cell/out", writable=True)


def test_a_bubblewrap_that_somebody_kills_is_our_failure_and_its_guest_is_dead(out):
    heard = Heard()

    def murder():
        if heard.stdout:
            for pid in bubblewraps():
                os.kill(pid, signal.SIGKILL)
        return False

    with pytest.raises(SandboxError):
        bubblewrap().run(script("exec 9>/cell/out/lock; flock 9; echo ready; sleep 600", out), heard, murder)
    with (out.source / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_an_init_that_somebody_kills_is_our_failure_and_not_the_guests_signal():
    heard = Heard()

    def murder():
        if heard.stdout:
            for init in (init for pid in bubblewraps() for init in children_of(pid)):
                os.kill(init, signal.SIGKILL)
        return False

    with pytest.raises(SandboxError, match="killed from outside"):
        bubblewrap().run(script("echo ready; sleep 600"), heard, murder)


@needs_root
def test_the_hosts_process_list_shows_no_value_and_bubblewrap_inherits_nothing():
    heard, seen = Heard(), []

    def look():
        if heard.stdout and not seen:
            with suppress(ProcessLookupError):
                for pid in bubblewraps():
                    seen.extend([Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ")])
        return bool(seen)

    bubblewrap().run(replace(script("echo ready; sleep 600"), env={"TOKEN": "value-4711"}), heard, look)
    assert b"value-4711" not in seen[0]
    assert sorted(seen[1].split(b"\0")) == [b"", b"LANG=C.UTF-8", b"PATH=/usr/bin:/bin"]


def test_stopping_at_any_moment_of_the_start_leaves_nobody_behind():
    chance = random.Random(20)  # noqa: S311 (moments, not secrets)
    mark = "guest-that-is-stopped-early"
    for _ in range(60):
        limits = replace(LIMITS, wall_s=chance.uniform(0.0001, 0.015))
        exit_ = bubblewrap().run(replace(script(f": {mark}; sleep 600"), limits=limits), Heard(), lambda: False)
        assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "wall")
        assert living(mark) == []


OWNER = """
import sys
from pathlib import Path
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.testing import script
say = lambda stream, chunk: sys.stdout.buffer.write(chunk) and sys.stdout.flush()
Bubblewrap(Path(sys.argv[1])).run(script(sys.argv[2]), say, lambda: False)
"""


def test_an_owner_that_is_killed_takes_its_guest_with_it():
    mark = "guest-whose-owner-is-killed"
    words = (
        sys.executable,
        "-c",
        OWNER,
        str(work_root() / "work-None"),
        f": {mark}; setsid sleep 600 & echo ready; wait",
    )
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(sandbox.__file__).parents[1]) as owner:
        assert owner.stdout.readline() == b"ready\n"
        assert living(mark)
        owner.kill()
    limit = time.monotonic() + 10
    while living(mark) and time.monotonic() < limit:
        time.sleep(0.02)
    assert living(mark) == []


def test_a_guest_that_is_killed_late_is_told_from_one_that_ends():
    kinds = {
        bubblewrap()
        .run(replace(script("sleep 0.01"), limits=replace(LIMITS, wall_s=wall_s)), Heard(), lambda: False)
        .kind
        for wall_s in (0.001, 20.0)
    }
    assert kinds == {ExitKind.LIMIT, ExitKind.EXITED}


def test_a_working_directory_that_is_not_there_is_told():
    with pytest.raises(SandboxError, match=r"working directory .* a bind makes visible"):
        bubblewrap().run(replace(script(""), cwd="/nowhere"), Heard(), lambda: False)


@needs_root
def test_a_source_below_a_closed_folder_is_told():
    closed = work_root() / "closed"
    (closed / "in").mkdir(parents=True)
    closed.chmod(0o700)
    with pytest.raises(SandboxError, match="o\\+x"):
        bubblewrap().run(script("", Bind(closed / "in", "/cell/in")), Heard(), lambda: False)


@needs_root
def test_a_work_root_below_a_closed_folder_is_refused():
    closed = work_root() / "closed-root"
    closed.mkdir(mode=0o700)
    with pytest.raises(SandboxUnavailableError, match="closed to others"):
        Bubblewrap(closed / "work")


def test_a_missing_bubblewrap_is_told_with_its_cure(tmp_path):
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap"):
        program.find((), (tmp_path / "bwrap",))


@needs_root
@pytest.mark.parametrize(("mode", "words"), [(0o4755, "chmod u-s"), (0o777, "chmod go-w")])
def test_a_bubblewrap_that_can_not_be_trusted_is_refused(tmp_path, mode, words):
    copy = tmp_path / "bwrap"
    shutil.copy("/usr/bin/env", copy)
    copy.chmod(mode)
    with pytest.raises(SandboxUnavailableError, match=words):
        program.find((), (copy,))


@needs_root
def test_a_bubblewrap_that_is_not_roots_is_refused(tmp_path):
    copy = tmp_path / "bwrap"
    shutil.copy("/usr/bin/env", copy)
    os.chown(copy, AN_ORDINARY_USER, 0)
    with pytest.raises(SandboxUnavailableError, match="chown root"):
        program.find((), (copy,))


@needs_root
@pytest.mark.parametrize(("owner", "mode"), [(0, 0o777), (AN_ORDINARY_USER, 0o755)])
def test_a_bubblewrap_in_a_folder_that_others_may_change_is_refused(tmp_path, owner, mode):
    folder = tmp_path / "bin"
    folder.mkdir()
    shutil.copy("/usr/bin/env", folder / "bwrap")
    folder.chmod(mode)
    os.chown(folder, owner, 0)
    with pytest.raises(SandboxUnavailableError, match=f"{folder} may be changed by others"):
        program.find((), (folder / "bwrap",))


def test_a_bubblewrap_that_is_too_old_is_refused():
    with pytest.raises(SandboxUnavailableError, match=r"install bubblewrap 0\.8"):
        program.find((), (Path("/usr/bin/env"),))


@needs_root
def test_the_launcher_executes_nothing_as_root():
    tools = prepare(work_root() / "work-None" / "bin")
    done = subprocess.run([*tools.drop(0, 0), "/usr/bin/echo", "ran"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (97, b"")


@needs_root
def test_the_launcher_gives_up_every_id_and_group():
    tools = prepare(work_root() / "work-None" / "bin")
    done = subprocess.run([*tools.drop(77, 78), "/usr/bin/cat", "/proc/self/status"], capture_output=True, check=True)
    lines = dict(line.split(":", 1) for line in done.stdout.decode().splitlines())
    assert (lines["Uid"].split(), lines["Gid"].split(), lines["Groups"].split()) == (["77"] * 4, ["78"] * 4, [])


def start_init(compiler, left_open):
    """Run the init as process 1 of a bare namespace, never as root, with a descriptor that nobody closed."""
    tools = prepare(work_root() / f"work-{compiler}" / "bin", compiler)
    read, write = os.pipe()
    bare = ("bwrap", "--unshare-user", "--unshare-pid", "--as-pid-1", "--ro-bind", "/", "/", "--proc", "/proc", "--")
    words = (
        *DROP,
        *bare,
        *tools.init_words,
        str(tools.init),
        str(write),
        "1000000",
        "64",
        "9",
        "1000000000",
        "0",
        "echo",
        "ran",
    )
    done = subprocess.run(words, pass_fds=(write, *left_open), capture_output=True, check=False, timeout=30)
    os.close(write)
    with os.fdopen(read) as report:
        return done, report.read()


@pytest.mark.parametrize("compiler", [None, ""])
def test_the_init_starts_nothing_beside_a_descriptor_that_somebody_left_open(compiler, tmp_path):
    with (tmp_path / "left").open("w") as left:
        done, report = start_init(compiler, (left.fileno(),))
        assert report == f"descriptor {left.fileno()}\n"
    assert done.stdout == b""


@pytest.mark.parametrize("compiler", [None, ""])
def test_the_init_starts_the_command_when_all_is_closed(compiler):
    done, report = start_init(compiler, ())
    assert (done.stdout, report) == (b"ran\n", "started 1\nexited 0\n")


def test_two_that_make_the_tools_at_once_get_the_same(tmp_path):
    made = []
    makers = [threading.Thread(target=lambda: made.append(prepare(tmp_path / "bin"))) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert len(set(made)) == 1
    assert sorted(entry.name for entry in (tmp_path / "bin").iterdir()) == sorted(
        Path(place).name for place in (made[0].init, made[0].launcher_words[0], made[0].spawner_words[0])
    )


def test_slots_run_side_by_side_without_touching_each_other():
    heard = [Heard() for _ in range(4)]

    def work(slot):
        bubblewrap().run(replace(script("echo $$; sleep 0.05; echo end"), slot=slot), heard[slot], lambda: False)

    workers = [threading.Thread(target=work, args=(slot,)) for slot in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [one.stdout for one in heard] == [b"2\nend\n"] * 4
