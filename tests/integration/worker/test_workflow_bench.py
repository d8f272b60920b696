"""The workflow benchmark's arms, planned from a sweep file and run in a real sandbox by scripted sessions."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from farm.gates.health import HealthGate
from farm.model import Evidence, Outcome, Ticket, canonical_json, parse_record, sweep_id
from farm.model.keys import outcome_key, plan_key
from farm.planning import plan_sweep
from farm.plugins import Plugins
from tests.builders.planning import a_repository
from tests.builders.worker.farm import GIVEN, Farm
from tests.builders.worker.working import Make
from worker.tasks import carry

KNOWN = Plugins({**GIVEN, "gates": {"health": HealthGate}, "sandboxes": {"bubblewrap": object}})
WORK = "skills/work/SKILL.md"
PLANS = [{"write": {"path": "docs/plans/fix.md", "text": "1. Fix it.\n"}}, {"skill": {"name": "plan"}}]
WORKS = [
    {
        "run": {
            "command": "cat .claude/skills/work/SKILL.md /cell/assets/ce/skills/work/SKILL.md >done 2>/dev/null || true"
        }
    },
    {"skill": {"name": "work"}},
]
REVIEWS = [
    {"run": {"command": "echo '{}' >$FARM_OUT/review/review.json; touch new", "must_succeed": False}},
    {"skill": {"name": "ce:review"}},
]
AGENT = {"kind": "scripted", "scripts": {"*/plan": PLANS, "*/work": WORKS, "*/review": REVIEWS}}


def a_sweep(folder: Path, **preset: Any) -> Path:
    a_repository(folder / "repo", {"a.txt": "one\n"})
    for name, text in (("skills", "Work.\n"), ("better", "Work well.\n")):
        (folder / name / ".claude/skills/work").mkdir(parents=True)
        (folder / name / ".claude/skills/work/SKILL.md").write_text(text)
    for skill in ("plan", "work", "review"):
        (folder / "ce/skills" / skill).mkdir(parents=True)
        (folder / "ce/skills" / skill / "SKILL.md").write_text("Theirs.\n")
    (folder / "ce/.claude-plugin").mkdir()
    (folder / "ce/.claude-plugin/plugin.json").write_text('{"version": "1.2.3"}')
    task = {
        "id": "fix",
        "repository": {"path": "repo"},
        "prompt": "Fix it.",
        "oracle": {"kind": "command", "argv": ["sh", "-c", "test -e done"]},
    }
    preset |= {"kind": "workflow-bench", "agent": AGENT, "skill_files": "skills"}
    preset["comparator"] = {"name": "ce", "folder": "ce", "version": "1.2.3", "agent": {"denied_tools": []}}
    (folder / "sweep.yaml").write_text(yaml.safe_dump({"name": "bench", "tasks": [task], "preset": preset}))
    return folder / "sweep.yaml"


def outcomes(farm: Farm, sweep: Path) -> dict[str, Outcome]:
    """Run every cell of the sweep, each in a line of its own."""
    plan = plan_sweep(sweep, farm.blobs, KNOWN)
    name = sweep_id(plan.name, plan.digest, 1)
    farm.records.create(plan_key(name), canonical_json(plan))
    farm.leases.open_sweep(name)
    found: dict[str, Outcome] = {}
    line = farm.line()
    for index, cell in enumerate(plan.cells):
        carry(line, Ticket(sweep=name, plan=plan.digest, cell=cell.id, index=index, attempt=1))
        body = farm.records.read(outcome_key(name, cell.id, 1))
        assert body is not None
        found[cell.arm] = parse_record(Outcome, body, cell.id)
    line.close()
    return found


def the_patch(farm: Farm, outcome: Outcome) -> bytes:
    digests = [one.digest for one in outcome.artifacts if one.role == "patch"]
    return b"".join(map(farm.blobs.get, digests))


def proven(outcome: Outcome) -> Evidence:
    assert outcome.evidence is not None, outcome.fault
    return outcome.evidence


@pytest.mark.parametrize(
    ("arms", "answers"),
    [
        (["workflow", "ce-workflow", "ce-workflow-direct"], {True}),
        (["review", "ce-review"], {False}),
    ],
)
def test_incumbents_and_comparators_use_their_skills(
    farm: Make, tmp_path: Path, arms: list[str], answers: set[bool]
) -> None:
    cell = farm()
    found = outcomes(cell, a_sweep(tmp_path, arms=arms))
    evidence = {arm: proven(outcome) for arm, outcome in found.items()}
    assert {session.problem for one in evidence.values() for session in one.sessions} == {None}
    assert {one.oracle.correct for one in evidence.values()} == answers  # a review leaves the workspace as it was
    kept = {arm: {one.role for one in outcome.artifacts} for arm, outcome in found.items()}
    theirs = {arm for arm, one in found.items() if b"+Theirs.\n" in the_patch(cell, one)}
    assert theirs == {arm for arm in arms if arm.startswith("ce-work")}
    assert all(("review" in roles) == arm.endswith("review") for arm, roles in kept.items())


def test_baselines_are_denied_their_skill_and_work_without_the_incumbents_files(farm: Make, tmp_path: Path) -> None:
    found = outcomes(farm(), a_sweep(tmp_path, arms=["baseline", "baseline-nomcp"]))
    for evidence in map(proven, found.values()):
        (session,) = evidence.sessions
        assert (session.reason, evidence.oracle.correct) == ("permission_denied", True)


def test_a_candidate_differs_from_its_incumbent_by_the_overlay_alone(farm: Make, tmp_path: Path) -> None:
    cell = farm()
    found = outcomes(cell, a_sweep(tmp_path, overlay="better"))
    assert sorted(found) == [
        *("candidate-workflow", "candidate-workflow-direct", "workflow", "workflow-direct"),
    ]
    assert all(proven(outcome).oracle.correct for outcome in found.values())
    assert b"+Work.\n" in the_patch(cell, found["workflow"])
    assert b"+Work well.\n" in the_patch(cell, found["candidate-workflow"])


def test_a_plan_does_not_hide_that_the_work_after_it_is_another_arms(farm: Make, tmp_path: Path) -> None:
    cell = farm()
    found = outcomes(cell, a_sweep(tmp_path, arms=["workflow", "workflow-direct"]))
    churns = {proven(outcome).churn for outcome in found.values()}
    patches = {arm: the_patch(cell, outcome) for arm, outcome in found.items()}
    assert b"+1. Fix it.\n" in patches["workflow"]
    assert b"+1. Fix it.\n" not in patches["workflow-direct"]
    (churn,) = churns
    assert churn is not None
    assert (churn.files, churn.fingerprint is None) == (1, False)
