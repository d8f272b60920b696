"""Containment proven by effect, before any guest comes.

A throw-away sandbox runs a witness that tries what a guest would try; the host compares. What must fail stands beside
a like attempt that must succeed, so that a witness who can do nothing at all does not look like containment.
"""

import fcntl
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from sandbox.errors import SandboxError
from sandbox.spec import Bind, Exit, ExitKind, Limits, Probe, Sandbox, SandboxSpec, Sink, Stream

_WITNESS = Path(__file__).with_name("witness.py")
_OUT = "/cell/out"
_LIMITS = Limits(
    wall_s=10.0,
    memory_bytes=1 << 30,
    processes=16,
    file_size_bytes=4 << 20,
    open_files=64,
    output_bytes=1 << 20,
    tmp_bytes=1 << 20,
)
_ENV = ["HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"]
_DEATH_S = 2.0
_READ_ONLY = ("/x", "/usr/x", "/etc/x", "/dev/x", "/etc/passwd", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger")
_HOST_PLACES = ("/root", "/var", "/opt", "/srv", "/mnt", "/boot", "/sys", "/etc/shadow")


class Probed(Sandbox, Protocol):
    """A backend that can also be looked at without its system-call filter."""

    def run_unfiltered(self, spec: SandboxSpec, sink: Sink, stop: Callable[[], bool]) -> Exit:
        """Run without the filter."""
        ...


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the witness saw."""

    ids: list[int]
    groups: list[int]
    namespaces: dict[str, str]
    status: dict[str, str]
    fds: list[int]
    env: list[str]
    pids: list[int]
    interfaces: list[str]
    userns: str
    vsock: str
    tcp: str
    abstract: str
    seen: list[str]
    writes: dict[str, str]
    file: str
    tmp: str
    forks: str


@dataclass(frozen=True, slots=True)
class _Scene:
    """What the host prepared for the witness to find, or not."""

    out: Path
    secret: Path
    port: int
    abstract: str
    binds: tuple[Bind, ...]


def probe(backend: Probed, scratch: Path) -> tuple[Probe, ...]:
    """Run the witness and the kill drill below `scratch`; every probe says what was seen and what to do."""
    try:
        with _scene(backend, scratch) as scene:
            saw = _ask(backend.run, scene)
            bare = _ask(backend.run_unfiltered, scene)
            return (
                Probe("starts", ok=True, detail="a sandbox starts and answers"),
                *_identity(saw, scene, backend.owner(0)),
                *_walls(saw, bare),
                *_doors(saw, scene),
                *_limits(saw),
                _memory(backend),
                _kill_drill(backend, scene),
            )
    except SandboxError as error:
        return (Probe("starts", ok=False, detail=str(error), fix="do what the message says, then look again"),)
    except OSError as error:
        text = f"{error.filename or scratch}: {error.strerror}"
        return (Probe("starts", ok=False, detail=text, fix=f"give preflight a folder that it may write: {scratch}"),)


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
        secret = folder / "secret"
        secret.write_text("not for guests")
        door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        hidden = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract = f"preflight-{os.getpid()}-{folder.name}"
        hidden.bind(f"\0{abstract}")
        hidden.listen()
        # The control: both doors are open, as seen from here.
        socket.create_connection(door.getsockname(), timeout=2).close()
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(f"\0{abstract}")
        yield _Scene(out, secret, door.getsockname()[1], abstract, (Bind(out, _OUT, writable=True),))


def _ask(run: Callable[[SandboxSpec, Sink, Callable[[], bool]], Exit], scene: _Scene) -> Testimony:
    order = {
        "tries": {
            "abstract": [scene.abstract],
            "paths": [*_HOST_PLACES, str(scene.secret), _OUT],
            "writes": [*_READ_ONLY, f"{_OUT}/written"],
        },
        "numbers": {
            "port": scene.port,
            "file_size": _LIMITS.file_size_bytes,
            "tmp": _LIMITS.tmp_bytes,
            "processes": _LIMITS.processes,
        },
    }
    chunks: dict[Stream, bytes] = {Stream.STDOUT: b"", Stream.STDERR: b""}

    def keep(stream: Stream, chunk: bytes) -> None:
        chunks[stream] += chunk

    exit_ = run(_spec(scene, json.dumps(order)), keep, lambda: False)
    if exit_.kind is not ExitKind.EXITED or exit_.code != 0:
        said = chunks[Stream.STDERR].decode(errors="replace")[-400:]
        raise SandboxError(f"the witness inside did not finish ({exit_}): {said!r}")
    return Testimony(**json.loads(chunks[Stream.STDOUT]))


def _spec(scene: _Scene, order: str) -> SandboxSpec:
    argv = (_python(), "-I", "-S", "-B", "-c", _WITNESS.read_text(), order)
    return SandboxSpec(argv=argv, binds=scene.binds, limits=_LIMITS, cwd="/")


def _python() -> str:
    """Give a Python that is under /usr and so is there inside as well."""
    candidates = (Path(sys.executable).resolve(), Path("/usr/bin/python3"), Path("/usr/local/bin/python3"))
    found = next((path for path in candidates if path.is_relative_to("/usr") and path.exists()), None)
    if found is None:
        raise SandboxError("preflight needs a Python below /usr to run inside: apt-get install python3-minimal")
    return str(found)


def _judged(name: str, saw: object, expected: object, fix: str) -> Probe:
    if saw == expected:
        return Probe(name, ok=True, detail=f"{saw}")
    return Probe(name, ok=False, detail=f"saw {saw}, expected {expected}", fix=fix)


_REPORT = "containment is broken on this host: run nothing here, and report these details"


def _identity(saw: Testimony, scene: _Scene, owner: tuple[int, int]) -> Iterator[Probe]:
    written = (scene.out / "written").stat()
    on_host = (written.st_uid, written.st_gid)
    yield _judged("ids", saw.ids, [1000] * 6, _REPORT)
    yield _judged("host uid and gid", on_host, owner, _REPORT)
    yield Probe("not root on the host", ok=0 not in on_host, detail=f"uid {on_host[0]}", fix=_REPORT)
    yield _judged("groups", [group for group in saw.groups if group not in (1000, 65534)], [], _REPORT)
    yield _judged("environment", saw.env, _ENV, _REPORT)
    yield _judged("descriptors", saw.fds, [0, 1, 2], _REPORT)
    yield _judged("processes seen", len(saw.pids), 2, _REPORT)


def _walls(saw: Testimony, bare: Testimony) -> Iterator[Probe]:
    host = {name: os.readlink(f"/proc/self/ns/{name}") for name in saw.namespaces}  # noqa: PTH115 (no path)
    shared = [name for name, number in saw.namespaces.items() if number == host[name]]
    yield _judged("namespaces shared with the host", shared, [], _REPORT)
    powers = {value for key, value in saw.status.items() if key.startswith("Cap")}
    yield _judged("capabilities", powers, {"0" * 16}, _REPORT)
    yield _judged("no new privileges", saw.status.get("NoNewPrivs"), "1", _REPORT)
    yield _judged("system-call filter", (saw.status.get("Seccomp"), bare.status.get("Seccomp")), ("2", "0"), _REPORT)
    yield _judged("user namespaces, filtered", saw.userns, "EPERM", _REPORT)
    yield _judged("user namespaces, unfiltered", bare.userns, "ENOSPC", "install bubblewrap 0.8 or newer")


def _doors(saw: Testimony, scene: _Scene) -> Iterator[Probe]:
    yield _judged("interfaces", saw.interfaces, ["lo"], _REPORT)
    yield _judged("host's loopback", saw.tcp, "ECONNREFUSED", _REPORT)
    yield _judged("host's abstract socket", saw.abstract, "ECONNREFUSED", _REPORT)
    yield _judged("machine sockets", saw.vsock, "EAFNOSUPPORT", _REPORT)
    yield _judged(f"host's files, {scene.secret.name} included", saw.seen, [_OUT], _REPORT)
    opened = [path for path, end in saw.writes.items() if end == "done"]
    yield _judged("places that can be written", opened, [f"{_OUT}/written"], _REPORT)


def _limits(saw: Testimony) -> Iterator[Probe]:
    yield _judged("file size", saw.file, "EFBIG", _REPORT)
    yield _judged("size of /tmp", saw.tmp, "ENOSPC", _REPORT)
    yield _judged("number of processes", saw.forks, "EAGAIN", "limits by user namespace need Linux 5.14 or newer")


def _memory(backend: Sandbox) -> Probe:
    """Let a guest take twice the memory that it may have, and half of it as the control."""
    limit = 64 << 20
    ends = []
    for share in (0.5, 2.0):
        argv = (_python(), "-I", "-S", "-B", "-c", f"bytearray({int(limit * share)})")
        limits = replace(_LIMITS, memory_bytes=limit)
        spec = SandboxSpec(argv=argv, binds=(), limits=limits, cwd="/")
        exit_ = backend.run(spec, lambda _stream, _chunk: None, lambda: False)
        ends.append(exit_.kind is ExitKind.EXITED and exit_.code == 0)
    held = f"{limit >> 20} MiB held, by {backend.facts()['limits']}"
    return Probe(
        "memory", ok=ends == [True, False], detail=held if ends[0] else "not even half could be had", fix=_REPORT
    )


def _kill_drill(backend: Sandbox, scene: _Scene) -> Probe:
    """Stop a tree of daemons that ignore signals; the lock that they hold tells when the last is dead."""
    lock, seen, held = scene.out / "lock", bytearray(), []

    def is_ready() -> bool:
        if seen:
            held.append(_is_locked(lock))
        return bool(seen)

    before = time.monotonic()
    exit_ = backend.run(_spec(scene, "drill"), lambda _stream, chunk: seen.extend(chunk), is_ready)
    if exit_.kind is not ExitKind.STOPPED or held != [True]:
        return Probe("kill drill", ok=False, detail=f"the drill did not start: {exit_}, {bytes(seen)!r}", fix=_REPORT)
    took = time.monotonic() - before
    is_dead = not _is_locked(lock) and took < _DEATH_S
    return Probe("kill drill", ok=is_dead, detail=f"a tree of daemons was dead in {took:.2f} s", fix=_REPORT)


def _is_locked(path: Path) -> bool:
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
