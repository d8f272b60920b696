"""The host's variables and shared memory: one shell script looks for them inside and, as the control, outside.

On the host a process that could be the guest's own, by its uid, has a variable, and there are a segment and a file of
shared memory. The guest has a variable itself: if it does not find even that, it is blind.
"""

import ctypes
import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sandbox.backends.drills import LIMITS, told
from sandbox.backends.verdicts import BLIND, judged
from sandbox.errors import SandboxError
from sandbox.spec import ExitKind, Probe, Sandbox, SandboxSpec

_VARIABLES = ("own", "variable")
_MEMORY = ("table", "folder", "segment", "file")
_LOOK = """
grep -qs "$1" /proc/[0-9]*/environ && echo own
grep -qs "$2" /proc/[0-9]*/environ && echo variable
while read key rest; do [ "$key" = key ] && echo table || echo segment; done </proc/sysvipc/shm
[ -d /dev/shm ] && echo folder
[ -e "$3" ] && echo file
exit 0
"""
_OWN = "PREFLIGHT_OWN"
_HOSTS = "PREFLIGHT_HOSTS"
_LOOK_S = 30.0
_SEGMENT_BYTES = 4096
_IPC_RMID = 0


@dataclass(frozen=True, slots=True)
class _Hidden:
    """What there is to find."""

    own: str
    variable: str
    file: str

    def look(self, before: str = "") -> tuple[str, ...]:
        """Give the command that looks for it."""
        return ("/bin/sh", "-c", before + _LOOK, "look", self.own, self.variable, self.file)


def sight(backend: Sandbox) -> Iterator[Probe]:
    """Hide a variable and shared memory, and let the script look for them."""
    with _shared_memory() as file:
        hidden = _Hidden(secrets.token_hex(8), secrets.token_hex(8), file)
        with _started(hidden, backend.owner(0)) as outside:
            found = _inside(backend, hidden)
            seen = outside.communicate(b"look\n", timeout=_LOOK_S)[0].decode(errors="replace").split()
    variables, memory = ([name for name in names if name in found] for names in (_VARIABLES, _MEMORY))
    yield judged("host's variables", variables, ["own"], "none is seen, and its own is")
    yield judged("shared memory", memory, ["table", "folder"], "nothing of the host's")
    blind = [name for name in (*_VARIABLES, *_MEMORY) if name not in seen]
    yield judged("sight, control", blind, [], "outside the same script sees all that it must not see inside", BLIND)


@contextmanager
def _shared_memory() -> Iterator[str]:
    """Have a segment and, whose path is given, a file."""
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, _SEGMENT_BYTES, 0o600)
    try:
        with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="preflight-") as file:
            yield file.name
    finally:
        libc.shmctl(segment, _IPC_RMID, None)


@contextmanager
def _started(hidden: _Hidden, owner: tuple[int, int]) -> Iterator["subprocess.Popen[bytes]"]:
    """Have a process that could be the guest's own, with the variables, and that looks when it reads a line."""
    is_root = os.geteuid() == 0
    with subprocess.Popen(  # noqa: S603 (our own script)
        hidden.look("read go;"),
        env={_OWN: hidden.own, _HOSTS: hidden.variable},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        user=owner[0] if is_root else None,
        group=owner[1] if is_root else None,
        extra_groups=() if is_root else None,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def _inside(backend: Sandbox, hidden: _Hidden) -> list[str]:
    heard = bytearray()
    spec = SandboxSpec(argv=hidden.look(), binds=(), limits=LIMITS, cwd="/", env={_OWN: hidden.own})
    exit_ = backend.run(spec, lambda _stream, chunk: heard.extend(chunk), lambda: False)
    if (exit_.kind, exit_.code) != (ExitKind.EXITED, 0):
        raise SandboxError(f"the look for variables and shared memory did not finish, {told(exit_)}")
    return heard.decode(errors="replace").split()
