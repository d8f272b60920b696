"""The workflow benchmark's arms: which are picked, what each is, and what an overlay demands."""

from pathlib import Path
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import ArmRole, ArmSpec, Guidance, OverlaySpec, PluginFolder, SweepSpec
from farm.planning.presets import expand
from farm.planning.workflow_bench import known_arms
from worker.programs.direct import DirectProgram
from worker.programs.plan_work import PlanWorkProgram
from worker.programs.review import ReviewProgram

PROGRAMS: dict[str, Any] = {"plan-work": PlanWorkProgram, "direct": DirectProgram, "review": ReviewProgram}
TASK = {"id": "t", "repository": {"path": "r"}, "prompt": "p", "oracle": {"kind": "command"}}
AGENT = {"kind": "claude-code", "model": "m", "mcp": {"graph": {"command": ["x"]}}}
SKILLS = {"plan": "ce-plan", "work": "ce-work", "review": "ce-review"}
COMPARATOR = {"name": "ce", "folder": "ce", "version": "1.2.3", "skills": SKILLS}
ALL = tuple(known_arms())


def arms(folder: Path = Path(), **options: Any) -> dict[str, ArmSpec]:
    preset = {"kind": "workflow-bench", "agent": AGENT, "comparator": COMPARATOR} | options
    spec = SweepSpec.model_validate({"name": "s", "tasks": [TASK], "preset": preset})
    return {arm.name: arm for arm in expand(spec, folder).spec.arms}


def an_overlay(folder: Path, *skills: str) -> Path:
    for skill in skills:
        (folder / "better/.claude/skills" / skill).mkdir(parents=True)
        (folder / "better/.claude/skills" / skill / "SKILL.md").write_text("Better.\n")
    return folder


def test_there_are_eleven() -> None:
    assert len(ALL) == 11
    assert {name for name, pattern in known_arms().items() if pattern.role is ArmRole.INCUMBENT} == {
        "workflow",
        "workflow-direct",
        "review",
    }


def test_three_are_the_default_and_others_are_picked_in_any_order() -> None:
    assert tuple(arms()) == ("workflow", "workflow-direct", "baseline")
    assert tuple(arms(arms=["baseline-nomcp", "ce-review"])) == ("baseline-nomcp", "ce-review")


@pytest.mark.parametrize(
    ("given", "kinds"), [({}, ["health"]), ({"gates": []}, []), ({"gates": [{"kind": "paired"}]}, ["paired"])]
)
def test_the_health_guard_is_the_gate_where_the_sweep_file_names_none(given: dict[str, Any], kinds: list[str]) -> None:
    preset = {"kind": "workflow-bench", "agent": AGENT}
    spec = SweepSpec.model_validate({"name": "s", "tasks": [TASK], "preset": preset} | given)
    assert [gate.kind for gate in expand(spec, Path()).spec.gates] == kinds


def test_every_arms_program_takes_its_options() -> None:
    picked = [name for name in ALL if not name.startswith("candidate")]
    for arm in arms(arms=picked).values():
        assert PROGRAMS[arm.program.kind](arm.program.options).options


@pytest.mark.parametrize(
    ("skills", "names"),
    [
        (["plan"], ["workflow", "candidate-workflow"]),
        (["work"], ["workflow", "candidate-workflow", "workflow-direct", "candidate-workflow-direct"]),
        (["work", "plan"], ["workflow", "candidate-workflow", "workflow-direct", "candidate-workflow-direct"]),
        (["review"], ["ce-review", "review", "candidate-review"]),
        (
            ["review", "plan"],
            ["workflow", "candidate-workflow", "ce-review", "review", "candidate-review"],
        ),
    ],
)
def test_an_overlay_demands_the_pairs_that_try_what_it_changes(
    tmp_path: Path, skills: list[str], names: list[str]
) -> None:
    an_overlay(tmp_path, *skills)
    assert list(arms(tmp_path, overlay="better")) == names
    assert list(arms(tmp_path, overlay="better", arms=names)) == names
    with pytest.raises(SpecError, match=f"exactly these arms, in this order: {', '.join(names)}"):
        arms(tmp_path, overlay="better", arms=names[::-1])


def test_a_candidate_is_its_incumbent_but_for_the_overlay(tmp_path: Path) -> None:
    found = arms(an_overlay(tmp_path, "work"), overlay="better", skill_files="skills")
    old, new = found["workflow"], found["candidate-workflow"]
    assert old.overlay is not None
    assert new.overlay == old.overlay.model_copy(update={"files": "better", "modify_only": True})
    same = {"name": new.name, "role": new.role, "incumbent": "workflow", "overlay": new.overlay}
    assert old.model_copy(update=same) == new


def test_each_phase_requires_its_skill_by_its_name_and_no_session_changes_skills() -> None:
    found = arms(arms=["workflow", "ce-workflow", "review"], skills={"plan": "my-plan", "work": "my-work"})
    program = PlanWorkProgram(found["workflow"].program.options)
    assert [demand.skill for demand in program.demands] == ["my-plan", "my-work"]
    assert program.options["may_not_change"] == [".claude/skills/**"]
    theirs = PlanWorkProgram(found["ce-workflow"].program.options)
    assert [demand.skill for demand in theirs.demands] == ["ce-plan", "ce-work"]
    (demand,) = ReviewProgram(found["review"].program.options).demands
    assert (demand.skill, demand.denied_tools) == ("review", ("Edit",))


def test_the_comparators_plug_in_is_its_arms_own() -> None:
    arm = arms(arms=["ce-workflow"])["ce-workflow"]
    skills = ("ce-plan", "ce-work", "ce-review")
    assert arm.plugins == {"ce": PluginFolder(folder="ce", version="1.2.3", skills=skills)}
    assert arm.agent.options["plugins"] == ["ce"]
    assert arm.overlay is None


def test_the_baselines_have_no_skill_and_the_bare_one_no_server() -> None:
    found = arms(arms=["baseline", "baseline-nomcp"], tools={"bare": ["Agent"]})
    plain, bare = (DirectProgram(found[name].program.options) for name in ("baseline", "baseline-nomcp"))
    assert [demand.denied_tools for demand in plain.demands] == [("Skill",)]
    assert [demand.denied_tools for demand in bare.demands] == [("Skill", "Agent")]
    assert "mcp" in found["baseline"].agent.options
    assert "mcp" not in found["baseline-nomcp"].agent.options


def test_the_bare_baseline_alone_is_told_nothing_of_the_tools_that_it_lacks() -> None:
    found = arms(arms=["baseline", "baseline-nomcp"], guidance={"blocks": ["graph"]})
    assert found["baseline"].overlay is None
    assert found["baseline-nomcp"].overlay == OverlaySpec(guidance=Guidance(blocks=("graph",)))


def test_an_arm_of_ones_own_stands_beside_the_presets() -> None:
    own = {"name": "own", "role": "control", "agent": {"kind": "robot"}}
    preset = {"kind": "workflow-bench", "agent": AGENT, "arms": ["baseline"]}
    spec = SweepSpec.model_validate({"name": "s", "tasks": [TASK], "preset": preset, "arms": [own]})
    assert [arm.name for arm in expand(spec, Path()).spec.arms] == ["baseline", "own"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"arms": ["workflo"]}, "there is no arm 'workflo'; did you mean 'workflow'?"),
        ({"arms": ["candidate-review"]}, "is a candidate, and there is no overlay"),
        ({"arms": ["ce-review"], "comparator": None}, "needs the plug-in that it compares with"),
        ({"overlay": "nowhere"}, "there is no folder"),
        ({"agents": {}}, "unknown field 'agents'"),
        ({"arms": []}, "preset.arms"),
    ],
)
def test_what_does_not_fit_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        arms(**options)
    assert words in str(caught.value)


def test_an_overlay_that_changes_no_skill_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="changes no file of a skill; the skills are called plan, work, review"):
        arms(an_overlay(tmp_path, "other"), overlay="better")
