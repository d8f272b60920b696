"""The one way out, shown by effect: whom a guest reaches with a door, without one, and by a tool or a server.

A word that is made up anew answers at the door, so whoever can tell it was there. The same command asks four times:
the session itself, which must reach the door both ways; a tool and a server of the session, by their rooms, which must
reach neither; and a guest without a door. Each is the others' control. A second command tells whether it finds a
variable of the session and can write what the session can: in the session both, in the server's room neither.
"""

import os
import secrets
import shlex
import shutil
import socket
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends.drills import LIMITS, system_python, told
from sandbox.backends.verdicts import REPORT, judged
from sandbox.door import listening
from sandbox.errors import SandboxError
from sandbox.spec import (
    DOOR,
    SERVER,
    TOOL,
    Bind,
    Door,
    ExitKind,
    Probe,
    Sandbox,
    SandboxSpec,
    ServerRoom,
    Stream,
    ToolRoom,
)

_PORT = 8080
_CALL_S = 10
_CALL = f"""
import errno, socket, sys
def call(family, place):
    try:
        with socket.socket(family) as door:
            door.settimeout({_CALL_S})
            door.connect(place)
            door.sendall(b"?")
            return door.recv(64).decode()
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)
print(sys.argv[1], call(socket.AF_UNIX, "{DOOR}"), call(socket.AF_INET, ("127.0.0.1", {_PORT})))
"""
_OPEN = "/cell/open"
_CALLER = "/cell/caller"
_LOOK = f'echo "$0" "${{OWN-nothing}}" $( (: >{_OPEN}/made) 2>/dev/null && echo written || echo refused)'
_ITSELF = '"$@" session'
_ALL = f"""
"$@" session; {TOOL} "$@" tool; {SERVER} "$@" server
sh -c {shlex.quote(_LOOK)} own; {SERVER} sh -c {shlex.quote(_LOOK)} sealed
"""
_NEITHER = "ENOENT ECONNREFUSED"
_SHUT = "sessions can't ask their provider from this host: report these details"
_NO_ROOM = "sessions can't run tools without their door on this host: report these details"
_NO_SERVERS = "sessions can't start servers on this host: report these details"


@dataclass(frozen=True, slots=True)
class Caller:
    """What calls the door both ways inside: its words, but for a last one to tell it by, and the binds with it."""

    words: tuple[str, ...]
    binds: tuple[Bind, ...] = ()


def in_python() -> Caller:
    """Give the caller of sandboxes that have the host's /usr. Raises SandboxError."""
    return Caller((system_python(), "-I", "-S", "-B", "-c", _CALL))


def of_program(program: Path) -> Caller:
    """Give the caller of sandboxes that have who knows what: `native/caller.c`, which needs nothing of theirs."""
    return Caller((_CALLER, DOOR, str(_PORT)), (Bind(program, _CALLER),))


@dataclass(frozen=True, slots=True)
class _Place:
    """A door that is answered, where rooms may listen beside it, and what a guest may write."""

    door: Door
    tools: ToolRoom
    servers: ServerRoom
    open: Path
    word: str
    """What answers."""


def ways(backend: Sandbox, folder: Path, caller: Caller) -> Iterator[Probe]:
    """Judge the door and the rooms; `folder` is one that no guest can write."""
    try:
        with _answered(backend, folder) as place:
            found = _called(backend, caller, _ALL, place)
            without = _called(backend, caller, _ITSELF, None)["session"]
    except SandboxError as error:
        yield Probe("door and rooms", ok=False, detail=str(error), fix="do what the message says, then look again")
        return
    reached = f"{place.word} {place.word}"
    yield judged("door", found["session"], reached, "reached by its socket and by its port", _SHUT)
    yield judged("door, control", without, _NEITHER, "without a door neither is there")
    fix = REPORT if place.word in found["tool"] else _NO_ROOM
    yield judged(
        "tool room", found["tool"], _NEITHER, "a tool reaches the door by neither, what runs beside it by both", fix
    )
    served, sealed = found["server"], found["sealed"]
    is_open = place.word in served or "own" in sealed or "written" in sealed
    yield judged(
        "server room",
        f"{served}, {sealed}",
        f"{_NEITHER}, nothing refused",
        "a server reaches the door by neither, writes nothing that its session can, and gets nothing of its variables",
        REPORT if is_open else _NO_SERVERS,
    )
    yield judged("server room, control", found["own"], "own written", "the session has both")


@contextmanager
def _answered(backend: Sandbox, folder: Path) -> Iterator[_Place]:
    word, open_, owner = secrets.token_hex(8), folder / "shared", backend.owner(0)
    open_.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(open_, *owner)
    try:
        with listening(folder / "door", owner) as listener, answering(listener, word):
            rooms = ToolRoom(folder / "tools"), ServerRoom(folder / "servers")
            yield _Place(Door(folder / "door", _PORT), *rooms, open_, word)
    finally:
        shutil.rmtree(open_)


@contextmanager
def answering(listener: socket.socket, word: str) -> Iterator[None]:
    """Answer whoever calls with a word."""
    answers = threading.Thread(target=_answer, args=(listener, word.encode()))
    answers.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        answers.join()


def _answer(listener: socket.socket, word: bytes) -> None:
    while True:
        try:
            caller, _ = listener.accept()
        except OSError:  # shut down: nobody calls any more
            return
        with caller, suppress(OSError):
            caller.settimeout(_CALL_S)
            caller.recv(1)
            caller.sendall(word)


def _called(backend: Sandbox, caller: Caller, text: str, place: _Place | None) -> defaultdict[str, str]:
    """Run the shell's `text` on the call, with door and rooms if there is a place; give what each told, by name."""
    said = {Stream.STDOUT: bytearray(), Stream.STDERR: bytearray()}
    spec = SandboxSpec(
        argv=("/bin/sh", "-ec", text, "sh", *caller.words),
        binds=(*caller.binds, *(() if place is None else (Bind(place.open, _OPEN, writable=True),))),
        limits=LIMITS,
        cwd="/",
        env={"OWN": "own"},
        door=None if place is None else place.door,
        tools=None if place is None else place.tools,
        servers=None if place is None else place.servers,
    )
    exit_ = backend.run(spec, lambda stream, chunk: said[stream].extend(chunk), lambda: False)
    if exit_.kind is not ExitKind.EXITED or exit_.code != 0:
        complaint = said[Stream.STDERR].decode(errors="replace")[-400:]
        raise SandboxError(f"a call of the door did not finish, {told(exit_)}: {complaint!r}")
    found = defaultdict(lambda: "nothing")
    for line in said[Stream.STDOUT].decode(errors="replace").splitlines():
        name, _, words = line.partition(" ")
        found[name] = words
    return found
