"""The cell's sandboxes: what a session sees, what a check sees, and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from farm.model import ExitKind, Limits, ProcessExit
from sandbox import spec
from sandbox.errors import SandboxCommandError
from sandbox.spec import Bind, Door, Exit, Sandbox, SandboxSpec, Sink, Stream, ToolRoom
from worker.session import HOME, OUT, WORKSPACE, CheckResult, Launch
from worker.staging.ground import CellFolder

_NOT_FOUND = 127


@dataclass(frozen=True, slots=True)
class SessionBox:
    """One session: what it runs, sees and may use."""

    launch: Launch
    home: Path
    limits: Limits
    program: tuple[Bind, ...] = ()
    """The agent's own program, where the host's /usr does not hold it."""
    door: Door | None = None


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """One check: what it sees and may use."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    workspace: Path
    limits: Limits
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

    def run_session(self, session: SessionBox, sink: Sink) -> Exit:
        """Run an agent: a home, a workspace and an output folder of its own, and no network but its door."""
        launch = session.launch
        binds = (
            Bind(session.home, HOME, writable=True),
            Bind(self.folder.workspace, WORKSPACE, writable=True),
            Bind(self.folder.out, OUT, writable=True),
            *session.program,
        )
        box = SandboxSpec(
            argv=launch.argv,
            binds=binds,
            limits=_limits(session.limits),
            cwd=WORKSPACE,
            env={**launch.env, "FARM_OUT": OUT},
            stdin=launch.stdin,
            slot=self.slot,
            door=session.door,
            tools=ToolRoom(self.folder.new_socket()) if launch.runs_tools else None,
        )
        return self.sandbox.run(box, sink, self.must_stop)

    def run_check(self, plan: CheckPlan) -> CheckResult:
        """Run a check: an empty home, the workspace, the hidden files if it has any.

        A program that stands in the workspace and can't be executed is the guest's doing, and ends with code 127 as
        in a shell; any other that can't be started raises SandboxError.
        """
        bind = Bind(plan.workspace, WORKSPACE, writable=plan.is_writable)
        box = SandboxSpec(
            argv=plan.argv,
            binds=(bind, *plan.beside),
            limits=_limits(plan.limits),
            cwd=WORKSPACE,
            env=plan.env,
            slot=self.slot,
        )
        output = {stream: bytearray() for stream in Stream}

        def sink(stream: Stream, chunk: bytes) -> None:
            output[stream] += chunk

        try:
            ended = self.sandbox.run(box, sink, self.must_stop)
        except SandboxCommandError as error:
            if not _is_in_workspace(plan.argv[0]):
                raise
            output[Stream.STDERR] += f"{error}\n".encode()
            ended = Exit(kind=spec.ExitKind.EXITED, code=_NOT_FOUND, wall_s=0.0)
        out, err = (bytes(output[stream]) for stream in (Stream.STDOUT, Stream.STDERR))
        return CheckResult(process_exit(ended), out, err, ended.cut)


def _is_in_workspace(program: str) -> bool:
    return ("/" in program and not program.startswith("/")) or program.startswith(f"{WORKSPACE}/")


def _limits(limits: Limits) -> spec.Limits:
    return spec.Limits(
        wall_s=limits.wall_s,
        memory_bytes=limits.memory_bytes,
        processes=limits.processes,
        file_size_bytes=limits.file_size_bytes,
        open_files=limits.open_files,
        output_bytes=limits.output_bytes,
        tmp_bytes=limits.tmp_bytes,
    )


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
        limits_touched=ended.limits_touched,
    )
