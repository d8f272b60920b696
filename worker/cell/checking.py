"""The checks of one attempt: the visible verify, and the hidden oracle with the scope around it."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from farm.model import (
    CheckRun,
    ExitKind,
    MetricSource,
    OracleFinding,
    ProcessExit,
    ProcessLimits,
    SessionReport,
    WorkspaceMode,
)
from sandbox.errors import SandboxError, SandboxUnhealthyError
from sandbox.spec import Bind, Stream
from worker.cell.attempt import Attempt
from worker.cell.boxes import Boxes, CheckPlan, disk_limit
from worker.cell.cast import Cast
from worker.cell.left import BrokenBound, Left, look_at
from worker.cell.ports import Truth
from worker.cell.pulse import Pulse
from worker.cell.stops import VerifierBrokenError
from worker.session import KIT, CheckResult, Kit, OracleRequest
from worker.staging.copies import copy_again
from worker.staging.ground import Ground
from worker.staging.hidden import hidden_files
from worker.trees.errors import TreeLimitError


@dataclass(frozen=True, slots=True)
class Checks:
    """Runs the checks of one attempt, when no session is alive any more."""

    cast: Cast
    attempt: Attempt
    boxes: Boxes
    ground: Ground
    truth: Truth
    pulse: Pulse

    def verify(self) -> CheckRun | None:
        """Run the visible verify on a copy of the workspace, so that what it writes is nobody's change.

        A workspace that breaks a bound of ours, its .git included, is not copied: that is the limit it reached.
        """
        command = self.cast.task.verify
        if command is None:
            return None
        folder = self.boxes.folder
        try:
            copy = copy_again(folder, self.pulse.check)
        except TreeLimitError as error:
            return CheckRun(exit=ProcessExit(kind=ExitKind.LIMIT, limit=error.limit, wall_s=0.0))
        except OSError as error:
            # Folders may grow when they are copied: what fits on the cell's disk may not fit on another like it.
            return CheckRun(exit=disk_limit(folder.disks[-1] if folder.disks else None, error))
        plan = CheckPlan(command.argv, command.env, copy, command.limits, is_writable=True)
        result = self.boxes.run_check(plan)
        folder.remove_copy(copy)
        self._keep("verify", result)
        return CheckRun(exit=result.exit)

    def passes(self, argv: tuple[str, ...]) -> bool:
        """Run a command of the task's on a copy of the workspace; one that can't be copied passes nothing."""
        folder, known = self.boxes.folder, self.cast.task.verify
        try:
            copy = copy_again(folder, self.pulse.check)
        except (TreeLimitError, OSError):
            return False
        limits = ProcessLimits() if known is None else known.limits
        result = self.boxes.run_check(CheckPlan(argv, {}, copy, limits, is_writable=True))
        folder.remove_copy(copy)
        self.pulse.check()
        return result.exit.is_zero

    def judge_still(self, sessions: tuple[SessionReport, ...]) -> OracleFinding:
        """Ask the hidden oracle between sessions. One that may write would leave its marks: it is not asked."""
        if self.cast.task.oracle.workspace is WorkspaceMode.WRITABLE:
            return OracleFinding(correct=None, problem="the oracle may write to the workspace, and the run goes on")
        finding = self.judge(sessions, look_at(self.boxes.folder.workspace, self.pulse.check))
        self.pulse.check()
        return finding

    def judge(self, sessions: tuple[SessionReport, ...], left: Left) -> OracleFinding:
        """Ask the hidden oracle; a verifier that could not be started is tried once more.

        A workspace that breaks a bound of ours is a wrong answer, and nobody is asked. Raises VerifierBrokenError when
        the verifier could not be started twice.
        """
        if isinstance(left, BrokenBound):
            return OracleFinding(correct=False, answer_error=left.told)
        with self._hidden() as hidden:
            try:
                return self._ask(sessions, hidden)
            except SandboxUnhealthyError:
                raise  # the first verifier may still run
            except SandboxError:
                pass  # nothing was proven about the answer: only the verifier runs again
            try:
                return self._ask(sessions, hidden)
            except SandboxUnhealthyError:
                raise
            except SandboxError as error:
                raise VerifierBrokenError(f"the verifier could not be started, twice: {error}") from error

    @contextmanager
    def _hidden(self) -> Iterator[Bind | None]:
        digest = self.cast.task.oracle.files
        if digest is None:
            yield None
            return
        body = self.truth.blobs.get(digest)
        with hidden_files(self.ground, body, self.boxes.folder.owner) as files:
            yield Bind(files.source, files.target)

    def _ask(self, sessions: tuple[SessionReport, ...], hidden: Bind | None) -> OracleFinding:
        oracle = self.cast.task.oracle
        beside = [] if hidden is None else [hidden]

        def lend(kit: Kit) -> str:
            beside.append(Bind(self.ground.kit(kit), KIT))
            return KIT

        def check(argv: tuple[str, ...], env: Mapping[str, str]) -> CheckResult:
            is_writable = oracle.workspace is WorkspaceMode.WRITABLE
            workspace = self.boxes.folder.workspace
            result = self.boxes.run_check(CheckPlan(argv, env, workspace, oracle.limits, is_writable, tuple(beside)))
            if oracle.keep_output:
                self._keep("oracle", result)
            return result

        request = OracleRequest(
            task=self.cast.task,
            sessions=sessions,
            workspace=self.boxes.folder.workspace,
            hidden=hidden.target if hidden is not None else None,
            nonce=secrets.token_hex(16),
            check=check,
            lend=lend,
            artifact=self.attempt.artifact,
            numbers=frozenset(one.key for one in self.cast.plan.metrics if one.source is MetricSource.ORACLE),
        )
        return self.cast.oracle.find(request)

    def _keep(self, check: str, result: CheckResult) -> None:
        for stream, body in ((Stream.STDOUT, result.stdout), (Stream.STDERR, result.stderr)):
            if body:
                self.attempt.keeper.keep(f"{check}.{stream}", "text/plain", body, truncated=stream in result.cut)
