"""A task's setup: what is done to a cell's workspace before its first session, by a command without a network.

What it changes is nobody's change: the sessions begin there. A setup that fails is the task's fault, in every arm.
"""

from dataclasses import dataclass

from farm.errors import SpecError
from farm.model import ExitKind, ProcessExit, Setup
from farm.redaction import last_words
from sandbox.spec import Stream
from worker.cell.attempt import Attempt
from worker.cell.boxes import Boxes, CheckPlan
from worker.cell.left import Beginning, BrokenBound, look_at
from worker.cell.pulse import Pulse
from worker.collect.patch import add_to
from worker.session import CheckResult
from worker.staging.setup import Guarded
from worker.trees.scan import changes_between

_MOST_TAIL = 600


@dataclass(frozen=True, slots=True)
class SetUp:
    """Runs the setup of one attempt."""

    attempt: Attempt
    boxes: Boxes
    pulse: Pulse

    def run(self, setup: Setup, guarded: Guarded, found: Beginning) -> Beginning:
        """Run `setup` in the workspace and give what the sessions find then; raise SpecError when it went wrong."""
        workspace = self.boxes.folder.workspace
        result = self.boxes.run_check(CheckPlan(setup.argv, setup.env, workspace, setup.limits, is_writable=True))
        self.pulse.check()
        self._keep(result)
        if not result.exit.is_zero:
            raise SpecError(f"the setup {_ending(result.exit)}{_tail(result)}")
        left = look_at(workspace, self.pulse.check)
        if isinstance(left, BrokenBound):
            raise SpecError(f"the setup left a workspace beyond our bounds: {left.told}")
        changes = changes_between(found.tree, left)
        if not changes.paths:
            return found
        problem = guarded.problem(left, changes)
        if problem is not None:
            raise SpecError(problem)
        repository = self.boxes.folder.scratch()
        add_to(found.repository, workspace, changes, repository)
        return Beginning(left, repository)

    def _keep(self, result: CheckResult) -> None:
        for stream, body in ((Stream.STDOUT, result.stdout), (Stream.STDERR, result.stderr)):
            if body:
                self.attempt.keeper.keep(f"setup.{stream}", "text/plain", body, truncated=stream in result.cut)


def _ending(end: ProcessExit) -> str:
    match end.kind:
        case ExitKind.EXITED:
            return f"ended with code {end.code}"
        case ExitKind.SIGNALED:
            return f"was ended by signal {end.signal}"
        case ExitKind.LIMIT:
            return f"reached its limit of {end.limit}"
        case ExitKind.STOPPED:
            return "was stopped"


def _tail(result: CheckResult) -> str:
    """Give its last words; those of the output when it has said nothing of errors."""
    said = (result.stderr.strip() or result.stdout.strip()).decode("utf-8", "backslashreplace")
    return f": {last_words(' '.join(said.split()), _MOST_TAIL)}" if said else " and said nothing"
