"""Control groups on the real kernel: who reaches a limit is stopped, and it is told by its name."""

import os
import secrets
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import limits
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.process.spawner import Order, Spawner
from sandbox.spec import ExitKind, ToolRoom
from sandbox.testing import LIMITS, Heard, script
from tests.builders.sandbox_rooms import alone, bubblewrap, work_root
from tests.builders.sandbox_trees import is_soon

FOUND = limits.find()
needs_groups = pytest.mark.skipif(FOUND.groups is None, reason=f"no control groups: {FOUND.reason}")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
MIB = 1 << 20


def run(text, tools=None, **changed):
    heard = Heard()
    spec = replace(script(text), limits=replace(LIMITS, **changed), tools=tools)
    exit_ = bubblewrap().run(spec, heard, lambda: False)
    return exit_, heard


def hog(mib):
    return f"python3 -c 'x = bytearray({mib} << 20); print(len(x))'"


@needs_groups
def test_a_tree_that_takes_more_memory_than_it_may_is_ended_by_that_limits_name():
    exit_, heard = run(hog(128), memory_bytes=64 * MIB)
    assert (exit_.kind, exit_.limit, heard.stdout) == (ExitKind.LIMIT, "memory", b"")
    assert "memory" in exit_.limits_touched
    assert 48 * MIB < exit_.peak_memory_bytes <= 64 * MIB


@pytest.fixture
def room():
    return ToolRoom(work_root() / f"tools-{secrets.token_hex(4)}")


@needs_groups
@pytest.mark.parametrize("then", ["", "; exec sleep 30"], ids=["at the end", "meanwhile"])
def test_a_tool_that_takes_more_memory_than_it_may_ends_its_session_by_that_limits_name(room, then):
    exit_, heard = run(f"/.tool {hog(128)}{then}", room, memory_bytes=64 * MIB)
    assert (exit_.kind, exit_.limit, exit_.code, heard.stdout) == (ExitKind.LIMIT, "memory", None, b"")
    assert "memory" in exit_.limits_touched
    assert 48 * MIB < exit_.peak_memory_bytes <= 64 * MIB
    assert exit_.wall_s < 10


@needs_groups
def test_a_sessions_peaks_and_touched_limits_are_its_tools_as_well(room):
    text = "n=0; while [ $n -lt 20 ]; do sleep 0.5 & n=$((n+1)); done; wait"
    exit_, _ = run(f"/.tool sh -c '{text}'; /.tool {hog(60)}", room, processes=9, memory_bytes=256 * MIB)
    assert (exit_.kind, exit_.limits_touched) == (ExitKind.EXITED, ("processes",))
    assert exit_.peak_memory_bytes > 60 * MIB
    assert exit_.peak_processes >= 9


@needs_groups
def test_memory_is_counted_over_the_tree():
    holder = "python3 -c 'import time; x = bytearray(40 << 20); time.sleep(5)'"
    exit_, _ = run(f"for i in 1 2 3; do {holder} & done; wait; exec sleep 30", memory_bytes=96 * MIB)
    assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "memory")
    assert exit_.wall_s < 4  # the rest of the tree is not left to sleep


@needs_groups
def test_what_is_only_reserved_is_not_used():
    text = "import mmap; mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)"
    exit_, _ = run(f"python3 -c '{text}'", memory_bytes=64 * MIB)
    assert (exit_.kind, exit_.code, exit_.limits_touched) == (ExitKind.EXITED, 0, ())


@needs_groups
def test_the_number_of_processes_is_held_exactly_and_told_as_touched():
    text = "n=0; while [ $n -lt 20 ]; do sleep 5 & n=$((n+1)); echo $n; done"
    exit_, heard = run(text, processes=9)
    assert heard.stdout.split()[-1] == b"8"  # the shell is one of the nine
    assert (exit_.kind, exit_.limits_touched) == (ExitKind.EXITED, ("processes",))
    within, heard = run(text.replace("20", "8"), processes=9)
    assert (within.code, within.limits_touched, heard.stdout.split()[-1]) == (0, (), b"8")


@needs_groups
def test_the_peaks_and_the_processor_time_of_the_whole_tree_are_told():
    exit_, _ = run(f"{hog(30)} & sleep 0.2 & sleep 0.2 & wait", memory_bytes=256 * MIB)
    assert exit_.peak_memory_bytes > 30 * MIB
    assert exit_.peak_processes >= 5
    assert 0 < exit_.cpu_s < 5


@needs_groups
def test_processor_time_is_cut_to_what_it_may_have():
    burner = "end=$(($(date +%s%N) + 1500000000)); while [ $(date +%s%N) -lt $end ]; do :; done"
    exit_, _ = run(burner, cpus=0.2)
    assert exit_.cpu_s < 0.35 * exit_.wall_s


@needs_groups
def test_nothing_of_a_group_is_left_after_its_run_but_the_empty_one_for_the_next():
    box = Bubblewrap(work_root() / "work-None")
    area = box._found.groups._area
    for _ in range(3):
        assert box.run(script("exit 0"), Heard(), lambda: False).code == 0
    folders = [held.path for held in area._held]
    left = [entry for folder in folders for entry in folder.iterdir() if entry.is_dir()]
    assert len(left) == len(folders)
    assert [(group / "cgroup.procs").read_text() for group in left] == [""] * len(left)
    del box
    assert [folder for folder in folders if folder.exists()] == []


OWN = next((line.partition("::")[2] for line in Path("/proc/self/cgroup").read_text().split() if "::" in line), "")
MOUNTS = map(str.split, Path("/proc/mounts").read_text().splitlines())
TWO = [Path(at + OWN) for _, at, kind, *_ in MOUNTS if kind == "cgroup2"]


@pytest.mark.skipif(not any(os.access(place, os.W_OK) for place in TWO), reason="needs a group of version 2 of ours")
@pytest.mark.parametrize("compiler", [None, ""])
def test_a_run_starts_in_a_group_of_version_two_by_its_folder(compiler):
    spawner = Spawner(bubblewrap(compiler)._tools.spawner_words, {})
    place = TWO[0] / f"test-{secrets.token_hex(4)}"
    place.mkdir()
    read, write = os.pipe()
    null, folder = os.open("/dev/null", os.O_RDWR), os.open(place, os.O_PATH | os.O_DIRECTORY)
    words = os.memfd_create("words")
    os.write(words, b"/bin/cat\x00/proc/self/cgroup\x00")
    channel = spawner.start(Order(words, null, write, write, null, null, null, groups=(folder,)))
    os.close(write)
    with os.fdopen(read) as told:
        assert any(line.startswith("0::") and line.endswith(f"/{place.name}\n") for line in told)
    assert is_soon(lambda: channel.read() or channel.ended is not None)
    channel.close()
    for fd in (null, folder, words):
        os.close(fd)
    spawner.close()
    place.rmdir()


@needs_groups
def test_a_group_that_can_not_be_entered_is_our_failure():
    spawner = Spawner(bubblewrap()._tools.spawner_words, {})
    read, write = os.pipe()
    null = os.open("/dev/null", os.O_RDWR)
    closed = os.open("/dev/null", os.O_RDONLY)
    words = os.memfd_create("words")
    os.write(words, b"/bin/true\x00")
    channel = spawner.start(Order(words, null, null, write, null, null, null, groups=(closed,)))
    os.close(write)
    assert os.read(read, 200).startswith(b"launcher: cgroup: ")
    channel.close()
    for fd in (read, null, closed, words):
        os.close(fd)
    spawner.close()


def enter(group):
    for folder in group._place.folders():
        (folder / "cgroup.procs").write_text("0")


@needs_groups
def test_what_a_killed_owner_left_in_its_groups_is_killed_and_removed_at_the_next_start():
    read, write = os.pipe()
    owner = os.fork()
    if owner == 0:
        group = limits.find().groups.make()
        guest = os.fork()
        if guest == 0:
            enter(group)
            os.write(write, b"%d" % os.getpid())
            os.execv("/bin/sleep", ["sleep", "600"])  # noqa: S606 (a guest of this test)
        signal.pause()
    guest = int(os.read(read, 20))
    groups = limits.find().groups
    groups.clear_leftovers()
    assert Path(f"/proc/{guest}/exe").exists()  # its owner lives
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)
    # Whoever makes a backend on this machine meanwhile may be sooner: what counts is that it is gone.
    assert is_soon(lambda: groups.clear_leftovers() < 0 or not Path(f"/proc/{guest}/exe").exists(), 5)
    for fd in (read, write):
        os.close(fd)


@needs_groups
def test_the_facts_name_what_holds_the_limits():
    assert bubblewrap().facts()["limits"] == FOUND.groups.kind


@needs_root
def test_an_ordinary_user_without_a_delegated_subtree_says_rlimits_only_and_why():
    facts = alone("ordinary", {"do": "facts"})
    assert (facts["limits"], bool(facts["no_cgroups"])) == ("rlimits only", True)
