"""Plan, then work: what each session is told and may do, and which plans are none."""

from collections.abc import Mapping
from typing import Any

import pytest

from farm.errors import SpecError
from tests.builders.worker.sessions import ToldSessions, a_file, a_footprint
from worker.phases import Demand, PhaseError
from worker.programs.plan_work import PlanWorkProgram
from worker.trees.scan import Entry, EntryKind

PLAN = "docs/plans/fix.md"
OLD = "docs/plans/old.md"


def performed(after: Mapping[str, Entry], before: Mapping[str, Entry] | None = None, **told: Any) -> ToldSessions:
    sessions = ToldSessions({"plan": a_footprint(before or {}, after)}, told.pop("reasons", {}))
    PlanWorkProgram(told).perform("Fix {plan} it.", sessions)
    return sessions


def test_the_work_session_is_told_the_plans_path() -> None:
    plan, work = performed({PLAN: a_file()}).asked
    assert (plan.name, work.name) == ("plan", "work")
    assert "Fix {plan} it." in plan.prompt
    assert PLAN in work.prompt
    assert "{" not in work.prompt


def test_a_plan_that_was_there_may_be_changed() -> None:
    assert len(performed({PLAN: a_file("new")}, {PLAN: a_file("old")}).asked) == 2


def test_the_plan_phase_may_change_plans_alone_and_its_work_is_anything_else() -> None:
    plan, work = performed({PLAN: a_file()}, beside=[".agent/**"], may_not_change=[".agent/skills/**"]).asked
    globs = ("docs/plans/*.md", "docs/plans/*.html", ".agent/**")
    assert plan.phase.may_change == plan.phase.work_beside == work.phase.work_beside == globs
    assert work.phase.may_change is None
    assert plan.phase.may_not_change == work.phase.may_not_change == (".agent/skills/**",)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ({}, {}, "made or changed no plan"),
        ({}, {PLAN: a_file(), OLD: a_file()}, "2 plans, docs/plans/fix.md, docs/plans/old.md"),
        ({OLD: a_file()}, {PLAN: a_file()}, "removed the plan docs/plans/old.md"),
        ({OLD: a_file()}, {OLD: a_file()}, "no plan"),
        ({}, {PLAN: a_file("")}, "empty or no regular file"),
        ({}, {PLAN: a_file(kind=EntryKind.LINK)}, "empty or no regular file"),
        ({}, {"docs/plans/a\nb.md": a_file()}, "can't be printed"),
        ({}, {"docs/plan.txt": a_file()}, "no plan"),
    ],
)
def test_anything_but_exactly_one_plan_is_invalid_evidence(
    before: Mapping[str, Entry], after: Mapping[str, Entry], says: str
) -> None:
    with pytest.raises(PhaseError, match=says) as caught:
        performed(after, before)
    assert str(caught.value).startswith("plan-evidence-invalid: session 'plan' ")


def test_a_plan_session_that_ended_badly_is_followed_by_no_work() -> None:
    assert [asked.name for asked in performed({}, reasons={"plan": "wall_limit"}).asked] == ["plan"]


def test_a_plan_made_without_its_skill_is_carried_out_and_measured() -> None:
    sessions = performed({PLAN: a_file()}, reasons={"plan": "skill-not-invoked"})
    assert [asked.name for asked in sessions.asked] == ["plan", "work"]


def test_each_phase_demands_its_own_skill_and_denies_its_own_tools() -> None:
    program = PlanWorkProgram({"plan": {"skill": "planning", "denied_tools": ["Edit"]}, "work": {"skill": "working"}})
    assert program.demands == (Demand(("Edit",), "planning"), Demand((), "working"))
    sessions = ToldSessions({"plan": a_footprint({}, {PLAN: a_file()})})
    program.perform("Fix it.", sessions)
    assert tuple(asked.phase.demand for asked in sessions.asked) == program.demands
    assert "`planning`" in sessions.asked[0].prompt
    assert "`working`" in sessions.asked[1].prompt


def test_every_work_session_is_told_to_run_its_checks_in_the_foreground() -> None:
    work = performed({PLAN: a_file()}, work={"prompt": "Do {plan}.", "note": "Be brief."}).asked[1]
    assert work.prompt.startswith(f"Do {PLAN}.\n\nRun every check in the foreground")
    assert work.prompt.endswith("\n\nBe brief.")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"plan": {"prompt": "Plan."}}, "plan.prompt holds no {prompt}"),
        ({"work": {"prompt": "Work."}}, "work.prompt holds no {plan}"),
        ({"plans": []}, "plans"),
        ({"plans": ["../x"]}, "plans"),
        ({"plans": ["/x"]}, "plans"),
        ({"skill": "x"}, "no such option"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=says.replace("{", r"\{")):
        PlanWorkProgram(options)
