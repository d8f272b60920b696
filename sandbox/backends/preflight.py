"""Containment proven by effect, before any guest comes."""

from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind, Limits, Probe, Sandbox, SandboxSpec

_LIMITS = Limits(
    wall_s=10.0,
    memory_bytes=512 << 20,
    processes=32,
    file_size_bytes=1 << 20,
    open_files=64,
    output_bytes=1 << 20,
    tmp_bytes=1 << 20,
)


def probe(backend: Sandbox, scratch: Path) -> tuple[Probe, ...]:
    """Run a throw-away sandbox and look."""
    del scratch
    spec = SandboxSpec(argv=("/usr/bin/true",), binds=(), limits=_LIMITS, cwd="/")
    try:
        exit_ = backend.run(spec, lambda _stream, _chunk: None, lambda: False)
    except SandboxError as error:
        return (Probe("starts", ok=False, detail=str(error), fix="see the message"),)
    return (Probe("starts", ok=_is_good(exit_), detail=f"{exit_.kind}, code {exit_.code}"),)


def _is_good(exit_: Exit) -> bool:
    return exit_.kind is ExitKind.EXITED and exit_.code == 0
