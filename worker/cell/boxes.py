"""The cell's sandboxes: what a session sees, what a check sees, and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from farm.model import ExitKind, Limits, ProcessExit, ProcessLimits
from sandbox import spec
from sandbox.disk import DISK, Disk
from sandbox.errors import SandboxCommandError
from sandbox.spec import TMP, Bind, Door, Exit, Sandbox, SandboxSpec, Scratch, ServerRoom, Sink, Stream, ToolRoom
from worker.session import HOME, OUT, WORKSPACE, CheckResult, Launch
from worker.staging.dependencies import Laid
from worker.staging.disks import is_full
from worker.staging.ground import CellFolder

_NOT_FOUND = 127


@dataclass(frozen=True, slots=True)
class SessionBox:
    """One session: what it runs, sees and may use."""

    launch: Launch
    home: Path
    limits: Limits
    beside: tuple[Bind, ...] = ()
    """What else it sees, read-only: the agent's own program, the arm's assets."""
    door: Door | None = None
    tmp: Path | None = None
    """Its temporary folder; None: a tmpfs."""
    is_writable: bool = True
    """Whether the workspace is."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """One check: what it sees and may use."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    workspace: Path
    limits: ProcessLimits
    is_writable: bool = False
    beside: tuple[Bind, ...] = ()
    """What else it sees, read-only: the hidden files, a kit."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Starts the cell's sandboxes, all in its own slot, all stopped when the pulse says so."""

    sandbox: Sandbox
    slot: int
    folder: CellFolder
    must_stop: Callable[[], bool]
    image: str | None = None
    """Whose root they have, where the task brings one."""
    shared: tuple[Laid, ...] = ()
    """What all of them see: the task's dependencies."""

    def run_session(self, session: SessionBox, sink: Sink) -> Exit:
        """Run an agent: a home, a workspace and an output folder of its own, and no network but its door."""
        launch = session.launch
        binds = (
            Bind(session.home, HOME, writable=True),
            Bind(self.folder.workspace, WORKSPACE, writable=session.is_writable),
            Bind(self.folder.out, OUT, writable=True),
            *session.beside,
            *(one.bind for one in self.shared),
            *(() if session.tmp is None else (Bind(session.tmp, TMP, writable=True),)),
        )
        box = SandboxSpec(
            argv=launch.argv,
            binds=binds,
            limits=_limits(session.limits),
            cwd=WORKSPACE,
            env={**launch.env, "FARM_OUT": OUT},
            stdin=launch.stdin,
            slot=self.slot,
            scratch=self._scratch(),
            image=self.image,
            door=session.door,
            tools=ToolRoom(self.folder.new_socket()) if launch.runs_tools else None,
            servers=ServerRoom(self.folder.new_socket()) if launch.starts_servers else None,
        )
        return self._run(box, sink, self.folder.workspace)

    def run_check(self, plan: CheckPlan) -> CheckResult:
        """Run a check: an empty home, the workspace, the hidden files if it has any.

        A program that stands in the workspace and can't be executed is the guest's doing, and ends with code 127 as
        in a shell; any other that can't be started raises SandboxError.
        """
        bind = Bind(plan.workspace, WORKSPACE, writable=plan.is_writable)
        box = SandboxSpec(
            argv=plan.argv,
            binds=(bind, *plan.beside, *(one.bind for one in self.shared)),
            limits=_limits(plan.limits),
            cwd=WORKSPACE,
            env=plan.env,
            slot=self.slot,
            scratch=self._scratch(),
            image=self.image,
        )
        output = {stream: bytearray() for stream in Stream}

        def sink(stream: Stream, chunk: bytes) -> None:
            output[stream] += chunk

        try:
            ended = self._run(box, sink, plan.workspace if plan.is_writable else None)
        except SandboxCommandError as error:
            if not _is_in_workspace(plan.argv[0]):
                raise
            output[Stream.STDERR] += f"{error}\n".encode()
            ended = Exit(kind=spec.ExitKind.EXITED, code=_NOT_FOUND, wall_s=0.0)
        out, err = (bytes(output[stream]) for stream in (Stream.STDOUT, Stream.STDERR))
        return CheckResult(process_exit(ended), out, err, ended.cut)

    def _scratch(self) -> tuple[Scratch, ...]:
        return tuple(scratch for one in self.shared for scratch in one.scratch)

    def _run(self, box: SandboxSpec, sink: Sink, written: Path | None) -> Exit:
        disk = None if written is None else self.folder.disk_of(written)
        if disk is None:
            return self.sandbox.run(box, sink, self.must_stop)
        return disk.run(self.sandbox, box, sink, self.must_stop)


def _is_in_workspace(program: str) -> bool:
    return ("/" in program and not program.startswith("/")) or program.startswith(f"{WORKSPACE}/")


def _limits(limits: ProcessLimits) -> spec.Limits:
    return spec.Limits(
        wall_s=limits.wall_s,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_size_bytes=limits.file_size_bytes,
        open_files=limits.open_files,
        output_bytes=limits.output_bytes,
        tmp_bytes=limits.tmp_bytes,
        cpus=limits.cpus,
    )


def disk_limit(disk: Disk | None, error: OSError) -> ProcessExit:
    """Say that a process could not start because a guest used its disk up; raise `error` when it is not that."""
    if disk is None or not is_full(error):
        raise error
    reached = disk.reached()
    limit = reached[0] if reached else DISK
    return ProcessExit(kind=ExitKind.LIMIT, limit=limit, wall_s=0.0, limits_touched=reached)


def process_exit(ended: Exit) -> ProcessExit:
    """Say in the records' terms how a process tree ended."""
    return ProcessExit(
        kind=ExitKind(ended.kind.value),
        code=ended.code,
        signal=ended.signal,
        limit=ended.limit,
        wall_s=ended.wall_s,
        cpu_s=ended.cpu_s,
        peak_memory_bytes=ended.peak_memory_bytes,
        peak_processes=ended.peak_processes,
        peak_disk_bytes=ended.peak_disk_bytes,
        peak_inodes=ended.peak_inodes,
        limits_touched=ended.limits_touched,
    )
