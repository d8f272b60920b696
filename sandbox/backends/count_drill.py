"""Limits that are counts, shown by effect: how many processes and open files a guest can have at once.

It takes as many as it gets, twice: under one pair of limits and, as the control, under a looser pair. That each time it
gets just what the limit says proves that this limit held it, and nothing else of this host.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sandbox.backends.drills import LIMITS, told, witness_spec
from sandbox.backends.verdicts import REPORT, judged
from sandbox.errors import SandboxError
from sandbox.spec import Exit, ExitKind, Limits, Probe, Sandbox

_TIGHT = replace(LIMITS, processes=16, open_files=64)
_LOOSE = replace(LIMITS, processes=48, open_files=128)
_MOST = 256
"""Where the witness gives up."""
_NO_NAMESPACE_COUNTS = "limits by user namespace need Linux 5.14 or newer"
_HOST_IS_TIGHTER = "raise this host's own bound for the worker: TasksMax, pids.max of its group, the hard ulimit -n"


@dataclass(frozen=True, slots=True)
class _Had:
    """How many a guest had at once, itself and its three standard streams included."""

    processes: int
    files: int
    is_named: bool
    """Whether its end names the processes as a limit that was reached."""


def counts(backend: Sandbox) -> Iterator[Probe]:
    """Look at what a guest gets under the limits, and under looser ones as the control."""
    tight, loose = _had(backend, _TIGHT), _had(backend, _LOOSE)
    is_grouped = backend.facts()["limits"] != "rlimits only"
    is_host_tighter = tight.processes <= _TIGHT.processes and loose.processes < _LOOSE.processes
    broken = REPORT if is_grouped else _NO_NAMESPACE_COUNTS
    yield judged(
        "number of processes",
        [tight.processes, loose.processes, tight.is_named and loose.is_named],
        [_TIGHT.processes, _LOOSE.processes, is_grouped],
        f"held at {_TIGHT.processes}; the control at {_LOOSE.processes}",
        _HOST_IS_TIGHTER if is_host_tighter else broken,
    )
    is_host_tighter = tight.files <= _TIGHT.open_files and loose.files < _LOOSE.open_files
    yield judged(
        "open files",
        [tight.files, loose.files],
        [_TIGHT.open_files, _LOOSE.open_files],
        f"held at {_TIGHT.open_files}; the control at {_LOOSE.open_files}",
        _HOST_IS_TIGHTER if is_host_tighter else REPORT,
    )


def _had(backend: Sandbox, limits: Limits) -> _Had:
    heard = bytearray()
    spec = replace(witness_spec((), "count", str(_MOST)), limits=limits)
    exit_ = backend.run(spec, lambda _stream, chunk: heard.extend(chunk), lambda: False)
    return _told(exit_, bytes(heard))


def _told(exit_: Exit, heard: bytes) -> _Had:
    if (exit_.kind, exit_.code) != (ExitKind.EXITED, 0):
        said = heard.decode(errors="replace")[-400:]
        raise SandboxError(f"the drill for counts did not finish, {told(exit_)}: {said!r}")
    said = json.loads(heard)
    return _Had(said["children"] + 1, said["files"] + 3, "processes" in exit_.limits_touched)
