"""The one way out, shown by effect: whom a guest reaches with a door, without one, and by a tool.

A word that is made up anew answers at the door, so whoever can tell it was there. The same command asks three times:
the session itself, which must reach the door both ways; a tool of the session, by its room, which must reach neither;
and a guest without a door. Each is the others' control.
"""

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends.drills import LIMITS, system_python, told
from sandbox.backends.verdicts import REPORT, judged
from sandbox.door import listening
from sandbox.errors import SandboxError
from sandbox.spec import DOOR, TOOL, Door, ExitKind, Probe, Sandbox, SandboxSpec, Stream, ToolRoom

_PORT = 8080
_CALL_S = 10
_CALL = f"""
import errno, socket
def call(family, place):
    try:
        with socket.socket(family) as door:
            door.settimeout({_CALL_S})
            door.connect(place)
            door.sendall(b"?")
            return door.recv(64).decode()
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)
print(call(socket.AF_UNIX, "{DOOR}"), call(socket.AF_INET, ("127.0.0.1", {_PORT})))
"""
_ITSELF = '"$@"'
_BOTH = f'"$@" && {TOOL} "$@"'
_NEITHER = "ENOENT ECONNREFUSED"
_SHUT = "sessions can't ask their provider from this host: report these details"
_NO_ROOM = "sessions can't run tools without their door on this host: report these details"


@dataclass(frozen=True, slots=True)
class _Place:
    """A door that is answered, and where a tool room may listen beside it."""

    door: Door
    room: ToolRoom
    word: str
    """What answers."""


def ways(backend: Sandbox, folder: Path) -> Iterator[Probe]:
    """Judge the door and the tool room; `folder` is one that no guest can write."""
    try:
        with _answered(backend, folder) as place:
            session, *tool = _called(backend, _BOTH, place)
            without, *_ = _called(backend, _ITSELF, None)
    except SandboxError as error:
        yield Probe("door and tool room", ok=False, detail=str(error), fix="do what the message says, then look again")
        return
    reached = f"{place.word} {place.word}"
    yield judged("door", session, reached, "reached by its socket and by its port", _SHUT)
    yield judged("door, control", without, _NEITHER, "without a door neither is there")
    fix = REPORT if place.word in " ".join(tool) else _NO_ROOM
    yield judged("tool room", tool, [_NEITHER], "a tool reaches the door by neither, what runs beside it by both", fix)


@contextmanager
def _answered(backend: Sandbox, folder: Path) -> Iterator[_Place]:
    word = secrets.token_hex(8)
    with listening(folder / "door", backend.owner(0)) as listener:
        answering = threading.Thread(target=_answer, args=(listener, word.encode()))
        answering.start()
        try:
            yield _Place(Door(folder / "door", _PORT), ToolRoom(folder / "tools"), word)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            answering.join()


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


def _called(backend: Sandbox, text: str, place: _Place | None) -> list[str]:
    """Run the shell's `text` on the call, with the door and the room if there is a place; give each call's line."""
    said = {Stream.STDOUT: bytearray(), Stream.STDERR: bytearray()}
    spec = SandboxSpec(
        argv=("/bin/sh", "-c", text, "sh", system_python(), "-I", "-S", "-B", "-c", _CALL),
        binds=(),
        limits=LIMITS,
        cwd="/",
        door=None if place is None else place.door,
        tools=None if place is None else place.room,
    )
    exit_ = backend.run(spec, lambda stream, chunk: said[stream].extend(chunk), lambda: False)
    if exit_.kind is not ExitKind.EXITED or exit_.code != 0:
        complaint = said[Stream.STDERR].decode(errors="replace")[-400:]
        raise SandboxError(f"a call of the door did not finish, {told(exit_)}: {complaint!r}")
    return said[Stream.STDOUT].decode(errors="replace").splitlines() or ["nothing"]
