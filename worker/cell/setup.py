"""A task's setup: what is done to a cell's workspace before its first session, by a command without a network.

What it changes is nobody's change: the sessions begin there. A setup that fails is the task's fault, in every arm.
"""

from dataclasses import dataclass

from farm.errors import SpecError
from farm.model import Setup
from worker.cell.attempt import Attempt
from worker.cell.boxes import Boxes, CheckPlan
from worker.cell.commands import failure, keep_output
from worker.cell.left import Beginning, BrokenBound, look_at
from worker.cell.pulse import Pulse
from worker.collect.patch import add_to
from worker.staging.setup import Guarded
from worker.trees.scan import changes_between


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
        keep_output(self.attempt.keeper, "setup", result)
        failed = failure(result)
        if failed is not None:
            raise SpecError(f"the setup {failed}")
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
        return Beginning(left, repository, add_to(found.repository, workspace, changes, repository))
