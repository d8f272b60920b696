"""What one session, and one check, may use. A limit reached is data about the arm, never an error of ours."""

from typing import Annotated

from pydantic import Field

from farm.model.base import Value

Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


class Limits(Value):
    """Bounds of one sandboxed process tree."""

    wall_s: Seconds = 2400.0
    memory_bytes: Positive = 4 * GIB
    """Enforced by cgroup where there is one; by RLIMIT_DATA alone elsewhere, and the evidence says so."""
    processes: Positive = 512
    file_size_bytes: Positive = 1 * GIB
    open_files: Positive = 4096
    output_bytes: Positive = 8 * MIB
    """Of each of stdout and stderr; past it the session is stopped and the limit named."""
    tmp_bytes: Positive = 256 * MIB


class CheckLimits(Limits):
    """Bounds of a visible verify or a hidden oracle."""

    wall_s: Seconds = 120.0
    output_bytes: Positive = 1 * MIB
