"""A session that writes one plan and nothing else, and a session that carries it out."""

from typing import Annotated

from pydantic import Field, JsonValue

from farm.model import ExitReason, RelativePath, SessionReport, matches_any
from worker.options import checked
from worker.phases import Demand, Footprint, Phase, PhaseError
from worker.programs.texts import FOREGROUND, Telling, Text, Untouched, ensure_marked
from worker.session import Sessions
from worker.trees.scan import EntryKind, shown

PLAN, WORK = "plan", "work"
_FAULT = "plan-evidence-invalid"
_WHOSE = "program 'plan-work'"
_MOST_NAMED = 5
_SKILL = frozenset({ExitReason.SKILL_NOT_INVOKED, ExitReason.SKILL_UNVERIFIED})
"""Ends of a session whose plan may be carried out: what it costs and what comes of it is still measured."""


class PlanTelling(Telling):
    """What the first session is told."""

    prompt: Text = "Plan how to do this. Change nothing but the plan.\n\n{prompt}"


class WorkTelling(Telling):
    """What the second session is told."""

    prompt: Text = "Carry out the plan in {plan}, all of it."


class PlanWorkOptions(Untouched):
    """The two sessions, and where the plan is to be."""

    plan: PlanTelling = PlanTelling()
    work: WorkTelling = WorkTelling()
    plans: Annotated[tuple[RelativePath, ...], Field(min_length=1, max_length=20)] = (
        "docs/plans/*.md",
        "docs/plans/*.html",
    )
    """Globs: exactly one file that they match is made or changed by the first session, and none is removed."""
    beside: Annotated[tuple[RelativePath, ...], Field(max_length=100)] = ()
    """Globs of what the first session may change too, such as an agent's own bookkeeping: no plan, and no work."""


class PlanWorkProgram:
    """Runs `plan`, then `work` with the plan's path; a second session that changes nothing gave a wrong answer."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(PlanWorkOptions, options, _WHOSE)
        ensure_marked(self._options.plan.prompt, "{prompt}", f"{_WHOSE}, plan.prompt")
        ensure_marked(self._options.work.prompt, "{plan}", f"{_WHOSE}, work.prompt")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", exclude_none=True)
        self.demands: tuple[Demand, ...] = (self._options.plan.demand, self._options.work.demand)

    def perform(self, prompt: str, sessions: Sessions) -> tuple[SessionReport, ...]:
        """Run both; the second not at all when the first ended badly, whatever it left."""
        options = self._options
        no_work = (*options.plans, *options.beside)
        planning = Phase(
            fault=_FAULT,
            demand=options.plan.demand,
            may_change=no_work,
            may_not_change=options.may_not_change,
            work_beside=no_work,
        )
        where = f"Write the plan to one new file whose path matches {' or '.join(options.plans)}."
        first = sessions.run_phase(PLAN, options.plan.told({"{prompt}": prompt}, where), planning)
        if first.report.problem is not None and first.report.reason not in _SKILL:
            return (first.report,)
        plan = the_plan(first.footprint, options.plans)
        working = Phase(demand=options.work.demand, may_not_change=options.may_not_change, work_beside=no_work)
        told = options.work.told({"{prompt}": prompt, "{plan}": plan}, FOREGROUND)
        return (first.report, sessions.run_phase(WORK, told, working).report)


def the_plan(footprint: Footprint | None, plans: tuple[str, ...]) -> str:
    """Give the path of the one plan that was made or changed; raise PhaseError when there is not exactly one."""
    if footprint is None:
        raise PhaseError(_FAULT, PLAN, "left no trace to find its plan by")
    changes = footprint.changes
    removed = [path for path in changes.removed if matches_any(path, plans)]
    if removed:
        raise PhaseError(_FAULT, PLAN, f"removed the plan {_named(removed)}")
    found = [path for path in (*changes.added, *changes.changed) if matches_any(path, plans)]
    if len(found) != 1:
        what = f"{len(found)} plans, {_named(found)}" if found else "no plan"
        raise PhaseError(_FAULT, PLAN, f"made or changed {what}; it must be exactly one of {', '.join(plans)}")
    (plan,) = found
    entry = footprint.after.entries[plan]
    if entry.kind is not EntryKind.FILE or entry.size == 0:
        raise PhaseError(_FAULT, PLAN, f"left a plan that is empty or no regular file, {shown(plan)}")
    if not plan.isprintable():
        raise PhaseError(_FAULT, PLAN, f"gave its plan a path that can't be printed, {shown(plan)!r}")
    return plan


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(shown(path) for path in sorted(paths)[:_MOST_NAMED]) + more
