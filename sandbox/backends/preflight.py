"""Containment proven by effect, before any guest comes.

A throw-away sandbox runs a witness that tries what a guest would try, and the same witness looks around outside it;
`sandbox.backends.verdicts` compares.
"""

import ctypes
import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox.backends import (
    count_drill,
    disk_drill,
    drills,
    host_facts,
    lifeline_drill,
    processor_drill,
    size_drill,
    slot_ids,
    verdicts,
    way_drills,
)
from sandbox.backends.drills import WITNESS, Unfiltered, system_python, witness_spec
from sandbox.backends.lifeline_drill import Lived
from sandbox.backends.naive import Naive
from sandbox.backends.verdicts import HIDDEN_VARIABLE, OUT, REPORT, WRITTEN, HostSide, Sight, Testimony, Witnesses
from sandbox.errors import SandboxError, SandboxRefusedError
from sandbox.spec import Bind, Exit, ExitKind, Probe, Sandbox, SandboxSpec, Sink, Stream

_READ_ONLY = (
    *("/x", "/usr/x", "/etc/x", "/dev/x", "/etc/passwd", "/cell/x", "/proc/sysrq-trigger"),
    *("/proc/sys/kernel/hostname", "/proc/sys/kernel/core_pattern"),
)
"""Opened for writing, never written to."""
_HOST_PLACES = ("/root", "/var", "/opt", "/srv", "/mnt", "/boot", "/sys", "/etc/shadow")
_MEMORY = ("/run", "/dev/shm", "/home/agent")  # noqa: S108 (the sandbox's own)
_LOOK_S = 30.0
_IPC_RMID = 0


class Probed(Unfiltered, Lived, Protocol):
    """A backend that can also be looked at beside a bubblewrap without care."""

    def naive(self) -> Naive:
        """Give the bubblewrap alone."""
        ...


@dataclass(frozen=True, slots=True)
class _Scene:
    """What the host prepared for the witness to find, or not."""

    folder: Path
    out: Path
    hidden: tuple[str, ...]
    leaked: int
    tries: dict[str, list[str]]
    numbers: dict[str, int]
    binds: tuple[Bind, ...]

    @property
    def order(self) -> str:
        """The questions, as the witness takes them."""
        return json.dumps({"tries": self.tries, "numbers": self.numbers})


def probe(backend: Probed, scratch: Path) -> tuple[Probe, ...]:
    """Run the witness and the drills below `scratch`; every probe says what was seen and what to do."""
    try:
        with _scene(backend, scratch) as scene:
            return tuple(_probes(backend, scene))
    except SandboxError as error:
        return (Probe("starts", ok=False, detail=str(error), fix="do what the message says, then look again"),)
    except (OSError, subprocess.SubprocessError) as error:
        fix = f"preflight has to write in /dev/shm and in {scratch}"
        return (Probe("starts", ok=False, detail=str(error), fix=fix),)


def _probes(backend: Probed, scene: _Scene) -> Iterator[Probe]:
    inside = _ask(backend.run, scene)
    saw = Witnesses(
        inside=inside,
        unfiltered=_ask(backend.run_unfiltered, scene),
        outside=_outside(scene, backend.owner(0)),
        leaked=scene.leaked,
        hidden=scene.hidden,
    )
    written = (scene.out / Path(WRITTEN).name).stat()
    owner = backend.owner(0)
    host = HostSide(owner, (written.st_uid, written.st_gid))
    yield Probe("starts", ok=True, detail="a sandbox starts and answers")
    yield from verdicts.identity(inside, host)
    if owner[0] != os.geteuid():
        yield from slot_ids.probes()
    yield from verdicts.walls(inside, saw.unfiltered)
    yield from verdicts.doors(saw)
    yield from verdicts.controls(saw)
    yield from _naive(backend, scene)
    yield from size_drill.sizes(backend, scene.out)
    yield size_drill.memory_file_systems(backend, *_MEMORY)
    yield from count_drill.counts(backend)
    yield drills.wall(backend)
    yield drills.memory(backend)
    yield drills.sockets(backend)
    yield processor_drill.processors(backend)
    yield from way_drills.ways(backend, scene.folder, way_drills.in_python())
    yield lifeline_drill.lifeline(backend, scene.out, scene.binds)
    yield disk_drill.disk(backend, scene.folder, scene.out)
    yield drills.killing(backend, scene.out, scene.binds)
    yield from host_facts.probes(scene.folder)


@contextmanager
def _scene(backend: Sandbox, scratch: Path) -> Iterator[_Scene]:
    scratch.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(dir=scratch.resolve(), prefix="preflight-"))
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o711)
        out = folder / "out"
        out.mkdir(mode=0o700)
        os.chown(out, *backend.owner(0))
        hidden = _hidden(folder, stack)
        leaked = os.open(hidden[0], os.O_RDONLY)
        stack.callback(os.close, leaked)
        tries = {
            **_doors(folder, stack),
            "paths": [*_HOST_PLACES, *hidden, OUT],
            "writes": [*_READ_ONLY, WRITTEN],
        }
        numbers = {"pid": os.getpid(), "port": _port(stack)}
        yield _Scene(folder, out, hidden, leaked, tries, numbers, (Bind(out, OUT, writable=True),))


def _hidden(folder: Path, stack: ExitStack) -> tuple[str, ...]:
    """Make files that no guest may see, whatever their mode, and a segment of shared memory."""
    for name, mode in (("closed", 0o600), ("open", 0o644)):
        (folder / name).write_text("not for guests")
        (folder / name).chmod(mode)
    number, shared = tempfile.mkstemp(dir="/dev/shm", prefix="preflight-")
    stack.callback(os.unlink, shared)
    os.close(number)
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o600)
    stack.callback(libc.shmctl, segment, _IPC_RMID, None)
    return str(folder / "closed"), str(folder / "open"), shared


def _doors(folder: Path, stack: ExitStack) -> dict[str, list[str]]:
    """Listen where no guest may get through: an abstract socket and one with a path."""
    abstract, pathname = f"preflight-{os.getpid()}-{folder.name}", folder / "socket"
    for address in (f"\0{abstract}", str(pathname)):
        door = stack.enter_context(socket.socket(socket.AF_UNIX))
        door.bind(address)
        door.listen()
    pathname.chmod(0o777)
    return {"abstract": [abstract], "pathname": [str(pathname)]}


def _port(stack: ExitStack) -> int:
    door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    port: int = door.getsockname()[1]
    return port


def _ask(run: Callable[[SandboxSpec, Sink, Callable[[], bool]], Exit], scene: _Scene) -> Testimony:
    chunks: dict[Stream, bytes] = {Stream.STDOUT: b"", Stream.STDERR: b""}

    def keep(stream: Stream, chunk: bytes) -> None:
        chunks[stream] += chunk

    exit_ = run(witness_spec(scene.binds, "testify", scene.order), keep, lambda: False)
    if exit_.kind is not ExitKind.EXITED or exit_.code != 0:
        said = chunks[Stream.STDERR].decode(errors="replace")[-400:]
        raise SandboxError(f"the witness inside did not finish ({drills.told(exit_)}): {said!r}")
    return verdicts.testimony_of(chunks[Stream.STDOUT])


def _outside(scene: _Scene, owner: tuple[int, int]) -> Sight:
    """Let the witness look around without a sandbox, as the user that a guest is on the host, never as root."""
    is_root = os.geteuid() == 0
    ran = subprocess.run(  # noqa: S603 (our own witness, the system's Python)
        (system_python(), "-I", "-S", "-B", "-c", WITNESS, "look", scene.order),
        env={HIDDEN_VARIABLE: "not for guests"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LOOK_S,
        check=False,
        pass_fds=(scene.leaked,),
        user=owner[0] if is_root else None,
        group=owner[1] if is_root else None,
        extra_groups=() if is_root else None,
    )
    if ran.returncode != 0:
        raise SandboxError(f"the witness outside did not finish: {ran.stderr.decode(errors='replace')[-400:]!r}")
    return verdicts.sight_of(ran.stdout)


def _naive(backend: Probed, scene: _Scene) -> Iterator[Probe]:
    """Report what this bubblewrap would do without us, and see that we don't let it."""
    victim = scene.folder / "victim"
    victim.mkdir(mode=0o777)
    victim.chmod(0o777)
    naive = backend.naive()
    follows = naive.follows_links(scene.out, victim)
    careless = witness_spec((*scene.binds, Bind(victim, f"{OUT}/link/made")), "look", scene.order)
    try:
        backend.run(careless, lambda _stream, _chunk: None, lambda: False)
        is_refused = False
    except SandboxRefusedError:
        is_refused = True
    told = "this bubblewrap would follow a guest's link" if follows else "this bubblewrap follows no link"
    refused = "refused" if is_refused else "not refused"
    yield Probe("mounts below binds", ok=is_refused, detail=f"{refused}; {told}", fix=REPORT)
    shows = naive.shows_environment(HIDDEN_VARIABLE)
    told = "shows our environment, our init does not" if shows else "shows no environment"
    yield Probe("process 1, control", ok=True, detail=f"bubblewrap's own {told}")
