"""What one session, and one check, may use. A limit reached is data about the arm, never an error of ours."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from farm.model.base import Value

Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
_DISK_BYTES_AN_INODE = 4 * KIB
_USUAL_BYTES_AN_INODE = 16 * KIB


class ProcessLimits(Value):
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
    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Processors' worth of time, held where there are control groups; None: as much as there is."""


class Limits(ProcessLimits):
    """Bounds of each session, and of the disk that a cell's sessions share."""

    disk_bytes: Annotated[int, Field(ge=MIB)] | None = None
    """Of workspace, homes, temporary folder and outputs together, what the task brings included; None: not capped.

    Held by a file system of that size where the worker is root with loop devices; elsewhere by nobody, and the evidence
    says "not capped".
    """
    inodes: Positive | None = None
    """Files, folders and links on that disk; None: one for each 16 KiB."""

    @model_validator(mode="after")
    def _disk_is_possible(self) -> Self:
        if self.inodes is not None and self.disk_bytes is None:
            raise ValueError("inodes is a limit of the cell's disk: set disk_bytes too")
        if self.inodes is not None and self.disk_bytes is not None:
            most = self.disk_bytes // _DISK_BYTES_AN_INODE
            if self.inodes > most:
                raise ValueError(f"inodes is {self.inodes}, but a disk of {self.disk_bytes} bytes has {most} at most")
        return self

    @property
    def disk_inodes(self) -> int | None:
        """Give how many inodes the disk has; None without a disk."""
        if self.disk_bytes is None:
            return None
        return self.inodes or self.disk_bytes // _USUAL_BYTES_AN_INODE


class CheckLimits(ProcessLimits):
    """Bounds of a visible verify or a hidden oracle."""

    wall_s: Seconds = 120.0
    output_bytes: Positive = 1 * MIB


class BuildLimits(CheckLimits):
    """Bounds of a build."""

    wall_s: Seconds = 3600.0


class SetupLimits(CheckLimits):
    """Bounds of a task's setup."""

    wall_s: Seconds = 600.0
