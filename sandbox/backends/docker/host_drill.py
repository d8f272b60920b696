"""The host's own sockets, shown by effect: one caller dials them inside and, as the control, outside."""

import secrets
import socket
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.backends.drills import LIMITS, told
from sandbox.backends.verdicts import BLIND, judged
from sandbox.backends.way_drills import answering
from sandbox.door import listening
from sandbox.errors import SandboxError
from sandbox.spec import Bind, Probe, Sandbox, SandboxSpec, Stream

_CALLER = "/cell/caller"
_LOOK_S = 30.0
_NONE = "host ENOENT ECONNREFUSED ECONNREFUSED"


def host_sockets(backend: Sandbox, folder: Path, caller: Path) -> tuple[Probe, Probe]:
    """Listen by a path, on the host's loopback and by an abstract name; `caller`, see `native/caller.c`, calls them."""
    word, place, name = secrets.token_hex(8), folder / "host", f"preflight-{secrets.token_hex(8)}"
    with (
        listening(place, backend.owner(0)) as by_name,
        socket.create_server(("127.0.0.1", 0)) as by_port,
        _abstract(name) as unnamed,
        answering(by_name, word),
        answering(by_port, word),
        answering(unnamed, word),
    ):
        words = (str(place), str(by_port.getsockname()[1]), "host", name)
        inside, outside = _inside(backend, caller, words), _outside(caller, words)
    return (
        judged("host's sockets", inside, _NONE, "out of reach, by path, by port and by abstract name"),
        judged(
            "host's sockets, control",
            outside,
            f"host {word} {word} {word}",
            "outside all answer the same caller",
            BLIND,
        ),
    )


def _abstract(name: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{name}")
    listener.listen()
    return listener


@dataclass(slots=True)
class _Heard:
    said: dict[Stream, bytes] = field(default_factory=lambda: dict.fromkeys(Stream, b""))

    def __call__(self, stream: Stream, chunk: bytes) -> None:
        self.said[stream] += chunk


def _inside(backend: Sandbox, caller: Path, words: tuple[str, ...]) -> str:
    heard = _Heard()
    spec = SandboxSpec(argv=(_CALLER, *words), binds=(Bind(caller, _CALLER),), limits=LIMITS, cwd="/")
    exit_ = backend.run(spec, heard, lambda: False)
    if exit_.code != 0:
        raise SandboxError(f"the caller inside did not finish, {told(exit_)}: {heard.said[Stream.STDERR]!r}")
    return heard.said[Stream.STDOUT].decode(errors="replace").strip()


def _outside(caller: Path, words: tuple[str, ...]) -> str:
    try:
        ran = subprocess.run(  # noqa: S603 (our own program)
            (str(caller), *words), env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LOOK_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"nothing in {_LOOK_S:.0f} s"
    return ran.stdout.decode(errors="replace").strip()
