"""Containment proven by effect, before any guest comes: by a shell inside, since an image need not have a Python.

What must fail stands beside a like attempt that must succeed, so that a witness who can do nothing at all does not
look like containment.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from sandbox.backends import host_facts, slot_ids
from sandbox.backends.disk_drill import disk
from sandbox.backends.docker.death_drills import killing, lifeline
from sandbox.backends.docker.host_drill import host_sockets
from sandbox.backends.docker.sight_drill import sight
from sandbox.backends.drills import Unfiltered, told, wall
from sandbox.backends.lifeline_drill import Lived
from sandbox.backends.processor_drill import in_shell, processors
from sandbox.backends.size_drill import memory_file_systems, sizes
from sandbox.backends.verdicts import REPORT, judged
from sandbox.backends.way_drills import of_program, ways
from sandbox.errors import SandboxError
from sandbox.process.tools import ContainerTools
from sandbox.spec import Bind, Exit, Limits, Probe, SandboxSpec, Sink, Stream

_OUT = "/cell/out"
_COUNTER = "/cell/counter"
_MEMORY = ("/dev/shm", "/home/agent")  # noqa: S108 (inside; /run is nobody's to write)
_MIB = 1 << 20
_LIMITS = Limits(
    wall_s=20.0,
    memory_bytes=32 * _MIB,
    processes=16,
    file_size_bytes=_MIB,
    open_files=64,
    output_bytes=_MIB,
    tmp_bytes=_MIB,
)
_NAMESPACES = ("ipc", "mnt", "net", "pid", "uts")
_WRITES = ("/x", "/etc/x", "/dev/x", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/sys/x", "/.init")
_POWERS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_WITNESS = f"""
while read name value; do echo "status $name $value"; done < /proc/self/status
while read name rest; do case $name in *:*) echo "interface $name";; esac; done < /proc/net/dev
while read what at kind options rest; do [ "$at" = / ] && echo "root ${{options%%,*}}"; done < /proc/self/mounts
for name in {" ".join(_NAMESPACES)}; do echo "namespace $name $(readlink /proc/self/ns/$name)"; done
for path in "$@"; do [ -e "$path" ] && echo "seen $path"; done
for path in {" ".join(_WRITES)} {_OUT}/written /tmp/written; do (: >> $path) 2>/dev/null && echo "wrote $path"; done
for pid in /proc/[0-9]*; do echo "process $pid"; done
exit 0
"""
_FORK = f"for i in 1 2 3 4; do sleep 20 & done; echo few; for i in {'1 ' * 32}; do sleep 20 & done; echo many"
_OPEN = f"exec {_COUNTER} 256"
_SWALLOW = """
dd if=/dev/zero of=/dev/null bs=1048576 count=1 2>/dev/null && echo little
exec dd if=/dev/zero of=/dev/null bs={} count=1
"""


class Probed(Unfiltered, Lived, Protocol):
    """A backend that can be looked at in every way."""


@dataclass(slots=True)
class _Seen:
    """What one run inside said, line by line under its first word."""

    exit: Exit
    said: Mapping[str, list[str]]

    def status(self, name: str) -> str:
        """Give a line of /proc/self/status, its blanks made one."""
        found = (line.split(" ", 1) for line in self.said.get("status", []))
        return next((" ".join(rest[0].split()) for key, *rest in found if key == f"{name}:"), "")

    def all(self, word: str) -> list[str]:
        """Give the lines that begin with `word`."""
        return self.said.get(word, [])


@dataclass(frozen=True, slots=True)
class _Room:
    """What the host prepared."""

    backend: Probed
    folder: Path
    out: Path
    secret: Path
    counter: Path

    def run(self, text: str, limits: Limits = _LIMITS) -> _Seen:
        """Run a shell script in the backend."""
        return _run(self.backend.run, self._spec(text, limits))

    def run_unfiltered(self, text: str) -> _Seen:
        """Run it without our filter."""
        return _run(self.backend.run_unfiltered, self._spec(text, _LIMITS))

    def _spec(self, text: str, limits: Limits) -> SandboxSpec:
        argv = ("/bin/sh", "-c", text, "witness", str(self.secret), "/root/.ssh", "/var/lib/docker", _OUT)
        binds = (Bind(self.out, _OUT, writable=True), Bind(self.counter, _COUNTER))
        return SandboxSpec(argv=argv, binds=binds, limits=limits, cwd="/")


def probe(backend: Probed, scratch: Path, tools: ContainerTools) -> tuple[Probe, ...]:
    """Run the witness and the drills, with our small `tools`, below `scratch`; every probe says what was seen."""
    try:
        with _room(backend, scratch, tools.counter) as room:
            saw, bare = room.run(_WITNESS), room.run_unfiltered(_WITNESS)
            return (
                Probe(
                    "starts",
                    ok=saw.exit.code == 0,
                    detail=f"a container ends: {told(saw.exit)}",
                    fix="the image needs a /bin/sh",
                ),
                *_identity(room, saw),
                *_walls(saw, bare),
                *_places(room, saw),
                *sizes(backend, room.out),
                memory_file_systems(backend, *_MEMORY),
                *_limits(room),
                wall(backend),
                *sight(backend),
                *host_sockets(backend, room.folder, tools.caller),
                *ways(backend, room.folder, of_program(tools.caller)),
                processors(backend, in_shell),
                lifeline(backend, room.out),
                disk(backend, room.folder, room.out),
                killing(backend, room.out),
                *host_facts.probes(room.folder),
            )
    except SandboxError as error:
        return (Probe("starts", ok=False, detail=str(error), fix="do what the message says, then look again"),)
    except OSError as error:
        text = f"{error.filename or scratch}: {error.strerror}"
        return (Probe("starts", ok=False, detail=text, fix=f"give preflight a folder that it may write: {scratch}"),)


@contextmanager
def _room(backend: Probed, scratch: Path, counter: Path) -> Iterator[_Room]:
    scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=scratch.resolve(), prefix="preflight-"))
    try:
        folder.chmod(0o711)
        out = folder / "out"
        out.mkdir(mode=0o700)
        os.chown(out, *backend.owner(0))
        secret = folder / "secret"
        secret.write_text("not for guests")
        yield _Room(backend, folder, out, secret, counter)
    finally:
        shutil.rmtree(folder)


def _run(run: Callable[[SandboxSpec, Sink, Callable[[], bool]], Exit], spec: SandboxSpec) -> _Seen:
    heard = _Heard()
    exit_ = run(spec, heard, lambda: False)
    said: dict[str, list[str]] = {}
    for line in heard.stdout.decode(errors="replace").splitlines():
        word, _, rest = line.partition(" ")
        said.setdefault(word, []).append(rest)
    return _Seen(exit_, said)


@dataclass(slots=True)
class _Heard:
    stdout: bytearray = field(default_factory=bytearray)

    def __call__(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDOUT:
            self.stdout += chunk


def _identity(room: _Room, saw: _Seen) -> Iterator[Probe]:
    uid, gid = room.backend.owner(0)
    yield judged("uids", saw.status("Uid").split(), [str(uid)] * 4, f"{uid}")
    yield judged("gids", saw.status("Gid").split(), [str(gid)] * 4, f"{gid}")
    yield Probe("not root on the host", ok="0" not in saw.status("Uid").split(), detail=f"uid {uid}", fix=REPORT)
    others = [group for group in saw.status("Groups").split() if group != str(gid)]
    yield judged("groups", others, [], "no group of the host's")
    if uid != os.geteuid():
        yield from slot_ids.probes()
    yield judged("processes seen", len(saw.all("process")), 2, "the init and itself")


def _walls(saw: _Seen, bare: _Seen) -> Iterator[Probe]:
    host = [f"{name} {os.readlink(f'/proc/self/ns/{name}')}" for name in _NAMESPACES]  # noqa: PTH115 (no path)
    yield judged("namespaces told", len(saw.all("namespace")), len(_NAMESPACES), "all can be looked at")
    shared = [one for one in saw.all("namespace") if one in host]
    yield judged("namespaces", shared, [], "none is shared with the host")
    powers = sorted({saw.status(power) for power in _POWERS})
    yield judged("capabilities", powers, ["0" * 16], "none, and none to gain")
    yield judged("no new privileges", saw.status("NoNewPrivs"), "1", "setuid programs give nothing")
    yield judged("system-call filter", saw.status("Seccomp"), "2", "on")
    filters = [int(one.status("Seccomp_filters") or 0) for one in (saw, bare)]
    fix = "start the engine with its default seccomp profile"
    yield judged("filters", filters, [2, 1], "ours above the engine's; the control has the engine's alone", fix)
    yield judged("interfaces", saw.all("interface"), ["lo:"], "an empty loopback of its own")


def _places(room: _Room, saw: _Seen) -> Iterator[Probe]:
    yield judged("host's files", saw.all("seen"), [_OUT], "none but the bind")
    yield judged("root", saw.all("root"), ["ro"], "mounted read-only")
    places = [f"{_OUT}/written", "/tmp/written"]  # noqa: S108 (inside)
    yield judged("writable places", saw.all("wrote"), places, "only its own bind and /tmp")
    uid = room.backend.owner(0)[0]
    yield judged("host's uid", (room.out / "written").stat().st_uid, uid, f"{uid} owns what was written")


def _limits(room: _Room) -> Iterator[Probe]:
    forked, freely = room.run(_FORK), room.run(_FORK, replace(_LIMITS, processes=64))
    fix = "give the engine the pids controller: a kernel with cgroups v2, or v1's pids mounted"
    ends = ["few" in forked.said, "many" in forked.said, "many" in freely.said]
    yield judged("number of processes", ends, [True, False, True], "held; the controls may have some, or more", fix)
    numbers = (64, 128)
    opened = [" ".join(room.run(_OPEN, replace(_LIMITS, open_files=number)).all("files")) for number in numbers]
    fix = "give the engine a higher hard limit of open files: LimitNOFILE, default-ulimits"
    yield judged("open files", opened, [str(one) for one in numbers], "held at 64; the control at 128", fix)
    swallowed = room.run(_SWALLOW.format(4 * _LIMITS.memory_bytes))
    fix = "give the engine the memory controller (on Debian's v1: cgroup_enable=memory)"
    took = ("little" in swallowed.said, swallowed.exit.limit)
    yield judged("memory", took, (True, "memory"), "held; the control may have some", fix)
