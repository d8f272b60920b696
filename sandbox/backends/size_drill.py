"""Limits that are sizes, shown by effect: how large a file may grow, and how much goes into /tmp and its like.

A guest takes as much as it gets, twice: under one pair of limits and, as the control, under a looser pair. That each
time it gets just what the limit says proves that this limit held it. It needs no more than a shell, `dd` and `rm`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.backends.drills import LIMITS, told
from sandbox.backends.verdicts import OUT, judged
from sandbox.errors import SandboxError
from sandbox.spec import TMP, Bind, ExitKind, Limits, Probe, Sandbox, SandboxSpec

_KIB = 1 << 10
_PIECE_BYTES = 64 * _KIB
_TIGHT = replace(LIMITS, file_size_bytes=64 * _KIB, tmp_bytes=2 * _PIECE_BYTES)
_LOOSE = replace(LIMITS, file_size_bytes=128 * _KIB, tmp_bytes=4 * _PIECE_BYTES)
_GROWN = "grown"
_TAKE = f"""
dd if=/dev/zero of={OUT}/{_GROWN} bs=4096 count=64 2>/dev/null
for piece in 1 2 3 4 5; do
    dd if=/dev/zero of={TMP}/$piece bs={_PIECE_BYTES} count=1 2>/dev/null && echo $piece
done
exit 0
"""
_MOST_MIB = 72
"""More than any of the sandbox's own memory file systems takes."""
_ROOMY = replace(LIMITS, file_size_bytes=128 * _KIB * _KIB, tmp_bytes=96 * _KIB * _KIB)
_FILL = f"""
for place in "$@"; do
    dd if=/dev/zero of=$place/big bs=1048576 count={_MOST_MIB} 2>/dev/null && came=all || came=none
    [ $came = none ] && [ -s $place/big ] && came=some
    echo $place $came
    rm -f $place/big
done
"""


@dataclass(frozen=True, slots=True)
class _Got:
    """How large a file grew, and how many pieces went into /tmp."""

    file_bytes: int
    pieces: int


def sizes(backend: Sandbox, out: Path) -> Iterator[Probe]:
    """Look at what a guest gets under the limits, and under looser ones; `out` is a folder that is the guest's."""
    tight, loose = _got(backend, out, _TIGHT), _got(backend, out, _LOOSE)
    yield judged(
        "file size",
        [tight.file_bytes, loose.file_bytes],
        [_TIGHT.file_size_bytes, _LOOSE.file_size_bytes],
        f"held at {_TIGHT.file_size_bytes >> 10} KiB; the control at {_LOOSE.file_size_bytes >> 10}",
    )
    yield judged(
        f"size of {TMP}",
        [tight.pieces * _PIECE_BYTES, loose.pieces * _PIECE_BYTES],
        [_TIGHT.tmp_bytes, _LOOSE.tmp_bytes],
        f"held at {_TIGHT.tmp_bytes >> 10} KiB; the control at {_LOOSE.tmp_bytes >> 10}",
    )


def memory_file_systems(backend: Sandbox, *places: str) -> Probe:
    """Let a guest write to each of `places` more than they take, and to a /tmp that has room for it as the control."""
    spec = SandboxSpec(argv=("/bin/sh", "-c", _FILL, "fill", TMP, *places), binds=(), limits=_ROOMY, cwd="/")
    came = [f"{TMP} all", *(f"{place} some" for place in places)]
    meaning = f"{' and '.join(places)} fill up; the control, a larger {TMP}, takes {_MOST_MIB} MiB"
    return judged("memory file systems", _said(backend, spec).splitlines(), came, meaning)


def _got(backend: Sandbox, out: Path, limits: Limits) -> _Got:
    binds = (Bind(out, OUT, writable=True),)
    pieces = _said(backend, SandboxSpec(argv=("/bin/sh", "-c", _TAKE), binds=binds, limits=limits, cwd="/"))
    grown = out / _GROWN
    return _Got(grown.stat().st_size if grown.exists() else 0, len(pieces.split()))


def _said(backend: Sandbox, spec: SandboxSpec) -> str:
    heard = bytearray()
    exit_ = backend.run(spec, lambda _stream, chunk: heard.extend(chunk), lambda: False)
    if (exit_.kind, exit_.code) != (ExitKind.EXITED, 0):
        raise SandboxError(f"the drill for sizes did not finish, {told(exit_)}")
    return heard.decode(errors="replace")
