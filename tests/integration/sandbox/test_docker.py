"""What is the docker backend's own: images, memory, what a dead worker leaves, what goes wrong."""

import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from sandbox.backends.docker import Docker, preflight
from sandbox.backends.docker.container import Image, Place, container
from sandbox.backends.docker.death import Death
from sandbox.backends.docker.engine import Engine
from sandbox.backends.docker.life import Order
from sandbox.backends.docker.room import Desk, open_room
from sandbox.backends.processor_drill import in_shell, processors
from sandbox.door import listening
from sandbox.errors import SandboxError, SandboxUnavailableError, SandboxUnhealthyError
from sandbox.limits import Usage
from sandbox.process.tools import prepare_container
from sandbox.spec import Bind, DiskSize, ExitKind, ToolRoom
from sandbox.testing import LIMITS, Heard, script
from tests.builders.disks import some_disks
from tests.builders.sandbox_rooms import work_root
from tests.services.docker import a_small_tree
from tests.services.programs import program
from tests.services.waiting import wait_until

_WORKER = """
import sys
from dataclasses import replace
from pathlib import Path
from sandbox.backends.docker import Docker
from sandbox.spec import ToolRoom
from sandbox.testing import script
root, image, url = sys.argv[1:]
sink = lambda _stream, chunk: print(chunk.decode(), end="", flush=True)
stays = "trap '' TERM HUP INT; echo ready; sleep 100"
spec = replace(script(f'/.tool sh -c "{stays}"; sleep 100'), tools=ToolRoom(Path(root) / "tools"))
Docker(Path(root), image, url).run(spec, sink, lambda: False)
"""


@pytest.fixture
def make(docker_engine):
    made = []

    def _make(image, url=docker_engine.url, root=None):
        made.append(Docker(root or work_root() / "docker", image, url))
        return made[-1]

    yield _make
    for one in made:
        one.close()


@pytest.fixture
def box(make, docker_image):
    return make(docker_image)


def _run(box, spec, heard=None):
    return box.run(spec, heard or Heard(), lambda: False)


def test_memory_that_runs_out_is_a_limit_with_its_name(box):
    spec = replace(
        script("exec dd if=/dev/zero of=/dev/null bs=100M count=1"), limits=replace(LIMITS, memory_bytes=32 << 20)
    )
    exit_ = _run(box, spec)
    assert (exit_.kind, exit_.limit, exit_.limits_touched) == (ExitKind.LIMIT, "memory", ("memory",))
    assert exit_.peak_memory_bytes == 32 << 20


def test_a_child_out_of_memory_that_its_parent_got_over_is_that_limit_as_well(box):
    text = "dd if=/dev/zero of=/dev/null bs=100M count=1; exit 0"
    exit_ = _run(box, replace(script(text), limits=replace(LIMITS, memory_bytes=32 << 20)))
    assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "memory")


def test_what_a_run_took_is_told_and_what_it_ran_into_named(box):
    burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    text = f"dd if=/dev/zero of=/dev/null bs=64M count=1; {burn}; for i in {'1 ' * 30}; do sleep 20 & done"
    exit_ = _run(box, replace(script(text), limits=replace(LIMITS, processes=20, cpus=0.1)))
    assert 64 << 20 < exit_.peak_memory_bytes < 96 << 20
    assert exit_.peak_processes == 21  # the init with them
    assert exit_.cpu_s > 0.05
    assert set(exit_.limits_touched) == {"processes", "processors"}


def test_a_run_that_ran_into_nothing_names_nothing(box):
    exit_ = _run(box, replace(script("exit 3"), limits=replace(LIMITS, processes=1)))
    assert (exit_.code, exit_.limits_touched) == (3, ())
    assert exit_.cpu_s < 0.02  # the engine's own start takes that and more


def test_what_was_ended_before_its_end_is_accounted_for_as_well(box):
    text = "dd if=/dev/zero of=/dev/null bs=64M count=1; while :; do :; done"
    exit_ = _run(box, replace(script(text), limits=replace(LIMITS, wall_s=0.5)))
    assert exit_.limit == "wall"
    assert exit_.peak_memory_bytes > 64 << 20
    assert exit_.cpu_s > 0.1


def test_where_a_group_can_not_be_seen_the_engine_tells_what_it_knows(docker_engine, docker_image):
    words = ("--network=none", docker_image, "/bin/sh", "-c", "dd if=/dev/zero of=/dev/null bs=64M count=1; sleep 20")
    container = docker_engine.cli("run", "--detach", *words)
    with Engine(docker_engine.url, pulls=False) as engine:
        wait_until(lambda: engine.usage(container).peak_memory_bytes > 64 << 20, 10)
        used = engine.usage(container)
        docker_engine.cli("kill", container)
        docker_engine.cli("wait", container)
        dead = engine.usage(container)
        engine.remove(container)
    assert (used.cpu_s > 0, used.peak_processes, used.touched) == (True, None, ())
    assert dead == Usage(None, None, None, ())  # and not nothing


def test_a_disk_holds_what_a_container_writes_and_a_full_one_is_named(box):
    with some_disks() as disks:
        made = disks.make(DiskSize(4 << 20, 64), box.owner(0))
        binds = []
        for name, target in (("ws", "/cell/ws"), ("tmp", "/tmp")):  # noqa: S108 (inside the container)
            (made.place / name).mkdir()
            os.chown(made.place / name, *box.owner(0))
            binds.append(Bind(made.place / name, target, writable=True))
        limits = replace(LIMITS, file_size_bytes=64 << 20)
        text = "echo here >/tmp/x; dd if=/dev/zero of=/cell/ws/big bs=65536 count=100; echo $?"
        heard = Heard()
        exit_ = made.run(box, replace(script(text, *binds), limits=limits), heard, lambda: False)
        assert (heard.stdout, exit_.limits_touched) == (b"1\n", ("disk",))
        assert (made.place / "tmp" / "x").read_text() == "here\n"
        assert (made.place / "ws" / "big").stat().st_size > 3.9 * (1 << 20)
        made.remove()


def test_no_more_processes_than_the_limit_at_once(box):
    heard = Heard()
    text = "for i in 1 2 3; do sleep 20 & done; echo few; for i in 1 2 3; do sleep 20 & done; echo many"
    exit_ = _run(box, replace(script(text), limits=replace(LIMITS, processes=5)), heard)
    assert (heard.stdout, exit_.limits_touched) == (b"few\n", ("processes",))


def test_input_that_the_guest_never_reads_holds_nobody_up(box):
    exit_ = _run(box, replace(script("exec 0<&-; echo done"), stdin=bytes(8 << 20)))
    assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 0)


def test_the_guest_can_neither_see_nor_forge_the_inits_last_word(box):
    heard = Heard()
    text = "cat /proc/1/environ /proc/1/fd/0 /proc/1/mem; echo exited 0 0 >&2; exit 7"
    exit_ = _run(box, script(text), heard)
    assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 7)
    assert heard.stdout == b""
    assert heard.stderr.endswith(b"exited 0 0\n")


def test_the_root_is_read_only_even_where_an_image_leaves_it_open(box):
    heard = Heard()
    _run(box, script("ls -ld /open; echo x > /open/x"), heard)
    assert heard.stdout.startswith(b"drwxrwxrwx")
    assert b"Read-only file system" in heard.stderr


def test_a_death_that_is_not_proven_in_five_seconds_makes_the_host_unhealthy(box, docker_engine):
    heard, asked = Heard(), []

    def stop():
        if heard.stdout:
            asked.append(time.monotonic())
            docker_engine.process.freeze()
        return bool(asked)

    try:
        with pytest.raises(SandboxUnhealthyError, match="take no more work here"):
            box.run(script("echo ready; exec sleep 600"), heard, stop)
        took_s = time.monotonic() - asked[0]
    finally:
        docker_engine.process.thaw()
    assert 5 <= took_s < 8
    for left in docker_engine.containers():  # the next worker's to remove
        docker_engine.cli("rm", "--force", left)


def test_a_container_that_never_started_is_removed(docker_engine, docker_image):
    with Engine(docker_engine.url, pulls=False) as engine:
        container = engine.create({"Image": docker_image, "Entrypoint": ["/bin/true"]})
        Death(engine, container).bury()
    assert docker_engine.containers() == []


def test_a_run_leaves_nothing_on_the_engine(box, docker_engine):
    _run(box, script("exit 3"))
    with pytest.raises(SandboxError, match="working directory '/nowhere' can't be entered"):
        _run(box, replace(script("exit 3"), cwd="/nowhere"))
    assert docker_engine.containers() == []


@pytest.fixture
def room():
    folder = work_root() / f"room-{secrets.token_hex(4)}"
    folder.mkdir()
    yield ToolRoom(folder / "tools")
    assert list(folder.iterdir()) == []


def test_a_tool_room_leaves_nothing_on_the_engine_and_its_tools_are_in_the_account(box, docker_engine, room):
    text = f"/.tool sh -c 'for i in {'1 ' * 70}; do sleep 20 & done'; exit 3"
    exit_ = _run(box, replace(script(text), tools=room))
    assert (exit_.code, exit_.peak_processes, exit_.limits_touched) == (3, 66, ("processes",))
    assert docker_engine.containers() == []


def test_memory_that_runs_out_in_a_tool_room_ends_the_session(box, room):
    text = "/.tool dd if=/dev/zero of=/dev/null bs=100M count=1; sleep 100"
    exit_ = _run(box, replace(script(text), tools=room, limits=replace(LIMITS, memory_bytes=32 << 20)))
    assert (exit_.kind, exit_.limit, exit_.peak_memory_bytes) == (ExitKind.LIMIT, "memory", 32 << 20)


def test_a_room_that_never_calls_for_its_listener_is_told_in_its_own_words(box, docker_engine, docker_image):
    folder, owner = work_root(), box.owner(0)
    place = Place(Image(docker_image, {}), prepare_container(folder / "docker" / "bin").init, {})
    order = Order(script("echo no such place >&2"), b"", Heard())
    with Engine(docker_engine.url, pulls=False) as engine, listening(folder / "idle", owner) as listener:
        desk = Desk(folder / "idle.desk", owner, listener)
        with pytest.raises(SandboxError, match="never stood: no such place"):
            open_room(engine, order, lambda spec: container(spec, place, owner), desk)
    assert docker_engine.containers() == []


def test_what_an_image_sets_is_there_unless_the_spec_says_otherwise(make, docker_engine):
    image = docker_engine.load(a_small_tree(program("busybox")), "ENV KEPT=image", "ENV CHANGED=image")
    heard = Heard()
    _run(make(image), replace(script("echo $KEPT $CHANGED"), env={"CHANGED": "spec"}), heard)
    assert heard.stdout == b"image spec\n"


def test_an_image_that_is_not_named_by_digest_is_refused(make, docker_engine, docker_image):
    docker_engine.cli("tag", docker_image, "named:latest")
    for name, words in (("named:latest", "tags move"), ("", "FARM_DOCKER_IMAGE"), (f"sha256:{'0' * 64}", "not on")):
        with pytest.raises(SandboxUnavailableError, match=words):
            make(name)


def test_an_image_with_volumes_is_refused(make, docker_engine):
    image = docker_engine.load(a_small_tree(program("busybox")), "VOLUME /data")
    with pytest.raises(SandboxUnavailableError, match=r"declares volumes \(/data\)"):
        make(image)


def test_an_engine_that_does_not_answer_or_is_elsewhere_is_named(make, docker_image, tmp_path):
    for url in (f"unix://{tmp_path}/none", "tcp://127.0.0.1:1"):
        with pytest.raises(SandboxUnavailableError, match=url):
            make(docker_image, url)


def test_preflight_says_what_an_image_lacks(make, docker_engine):
    image = docker_engine.load(a_small_tree(program("busybox"), shell=False))
    probes = make(image).preflight(work_root() / "scratch")
    assert [(probe.name, probe.ok) for probe in probes] == [("starts", False)]
    assert "/bin/sh" in probes[0].detail


class Holed:
    """A docker that does not hold its guests to some limits."""

    def __init__(self, inner, **loosened):
        self._inner, self._loosened = inner, loosened

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def run(self, spec, sink, stop):
        return self._inner.run(replace(spec, limits=replace(spec.limits, **self._loosened)), sink, stop)


def test_a_cap_of_processors_that_is_not_held_is_seen_by_the_drill_in_shell(box):
    assert not processors(Holed(box, cpus=None), in_shell).ok


def test_preflight_sees_limits_that_are_not_held(box):
    sizes = {"file_size_bytes": 1 << 30, "tmp_bytes": 1 << 30, "memory_bytes": 1 << 30}
    holed = Holed(box, **sizes, processes=64, open_files=256)
    probes = preflight.probe(holed, work_root() / "scratch", prepare_container(work_root() / "docker" / "bin"))
    names = {"file size", "size of /tmp", "memory", "number of processes", "open files"}
    assert {probe.name for probe in probes if not probe.ok} == names
    assert {"host", "host's switches", "crash dumps"} <= {probe.name for probe in probes}
    assert ("slots' users" in {probe.name for probe in probes}) is (os.geteuid() == 0)


def _killed_worker(root, docker_engine, docker_image):
    words = [sys.executable, "-c", _WORKER, str(root), docker_image, docker_engine.url]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as worker:
        assert worker.stdout.readline() == b"ready\n"
        os.kill(worker.pid, signal.SIGKILL)


def test_a_killed_workers_containers_end_at_once_and_the_next_worker_removes_them(make, docker_engine, docker_image):
    root = work_root() / "killed"
    _killed_worker(root, docker_engine, docker_image)
    wait_until(lambda: docker_engine.cli("ps", "--quiet") == "", 5)
    assert len(docker_engine.containers()) == 2  # the session's and its tools'
    make(docker_image, root=work_root() / "another")
    assert len(docker_engine.containers()) == 2
    make(docker_image, root=root)
    assert docker_engine.containers() == []


def test_what_a_living_worker_has_is_left_alone(make, docker_image):
    box, reaped = make(docker_image), []

    def stop():
        reaped.append(box.reap())
        return len(reaped) > 2

    assert box.run(script("sleep 100"), Heard(), stop).kind is ExitKind.STOPPED
    assert set(reaped) == {0}
