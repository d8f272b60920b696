"""The bounds of a program's phases: what a session changed in the workspace against what it may change."""

from dataclasses import dataclass
from pathlib import Path

from farm.model import OracleFinding, matches_any
from worker.cell.left import BrokenBound, Left, look_at
from worker.phases import Footprint, Phase, PhaseError
from worker.trees.scan import Changes, Check, Tree, changes_between, shown

NO_WORK = "no-work-produced"
"""What a wrong answer's message begins with when it is one for want of any work."""
_MOST_NAMED = 10


@dataclass(slots=True)
class Boundary:
    """Looks at the workspace around bounded phases, and only there: who has no bounds pays nothing."""

    workspace: Path
    check: Check
    known: Tree | None
    """What is there, as long as no session without bounds has run since it was looked at."""

    def before(self, name: str, phase: Phase) -> None:
        """Look at the workspace, if the phase called `name` has bounds and nobody knows what is there."""
        if phase.is_bounded and self.known is None:
            self.known = self._look(name, phase)

    def after(self, name: str, phase: Phase) -> Footprint | None:
        """Say what the phase's session changed; raise PhaseError when that is not its own to change."""
        before, self.known = self.known, None
        if not phase.is_bounded or before is None:
            return None
        self.known = after = self._look(name, phase)
        changes = changes_between(before, after)
        broken = _broken(changes, phase)
        if broken:
            more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
            raise PhaseError(
                phase.fault, name, f"changed what it may not: {', '.join(map(shown, broken[:_MOST_NAMED]))}{more}"
            )
        return Footprint(changes, after)

    def _look(self, name: str, phase: Phase) -> Tree:
        left = look_at(self.workspace, self.check)
        if isinstance(left, BrokenBound):
            raise PhaseError(phase.fault, name, f"left a workspace that can't be looked at: {left.told}")
        return left


def held_to_work(finding: OracleFinding, before: Tree, left: Left, beside: tuple[str, ...] | None) -> OracleFinding:
    """Make the answer a wrong one where work was expected and nothing differs but what the globs `beside` match.

    None: no work was expected. A check that passes on work that nobody did says nothing of the arm.
    """
    if beside is None or not isinstance(left, Tree):
        return finding
    if any(not matches_any(path, beside) for path in changes_between(before, left).paths):
        return finding
    error = f"{NO_WORK}: nothing was changed" + (f" but {', '.join(beside)}" if beside else "")
    return finding.model_copy(update={"correct": False, "answer_error": error, "problem": None})


def _broken(changes: Changes, phase: Phase) -> list[str]:
    allowed = phase.may_change if phase.is_writable else ()
    return [
        path
        for path in changes.paths
        if (allowed is not None and not matches_any(path, allowed)) or matches_any(path, phase.may_not_change)
    ]
