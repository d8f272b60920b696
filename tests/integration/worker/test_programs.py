"""Programs of several phases, in a real sandbox: what each may do, what it leaves, and what breaks its evidence."""

from typing import Any

import pytest

from farm.model import SUCCESS_LINE, Evidence, FaultKind, Governed, OracleFinding, Pin
from farm.plugins import Plugins
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.spec import SandboxSpec
from tests.builders.worker.doubles import HookedSandbox
from tests.builders.worker.farm import GIVEN, Farm, says
from tests.builders.worker.working import Make, Run
from worker.cell.recording import LineEnd
from worker.session import WORKSPACE, ArtifactError, OracleRequest

PLAN_WORK = Pin(name="plan-work", version="1")
DIRECT = Pin(name="direct", version="1")
REVIEW = Pin(name="review", version="1")
WRITES_A_PLAN = {"write": {"path": "docs/plans/fix.md", "text": "1. Write src/c.py.\n"}}
WORKS = {"run": {"command": 'grep -q "docs/plans/fix.md" && cp docs/plans/fix.md src/c.py', "must_succeed": True}}
REVIEWS = {"run": {"command": "cd $FARM_OUT/review && echo '{}' >.tmp && mv .tmp review.json", "must_succeed": True}}


class AskingOracle:
    """Says what became of the artifact `review`."""

    version = "1"

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def find(self, request: OracleRequest) -> OracleFinding:
        try:
            return OracleFinding(correct=request.artifact("review") == b"{}\n")
        except ArtifactError as error:
            return OracleFinding(correct=False, answer_error=str(error))


ASKING = Plugins({**GIVEN, "oracles": {**GIVEN["oracles"], "command": AskingOracle}})


def the_evidence(farm: Farm) -> Evidence:
    evidence = farm.outcome().evidence
    assert evidence is not None, farm.outcome().fault
    return evidence


def test_the_work_session_carries_out_the_plan_of_the_first(farm: Make, run: Run) -> None:
    scripts = {"plan": [WRITES_A_PLAN], "work": [WORKS]}
    cell = farm(program=PLAN_WORK, scripts=scripts, oracle=says("grep -q Write src/c.py"))
    assert run(cell) is LineEnd.RECORDED
    evidence = the_evidence(cell)
    assert [(session.name, session.problem) for session in evidence.sessions] == [("plan", None), ("work", None)]
    assert evidence.oracle.correct is True
    assert cell.leftovers() == []


def test_what_a_run_claims_is_in_its_evidence(farm: Make, run: Run) -> None:
    claims = {"answer": {"text": f"I did it.\n{SUCCESS_LINE}"}}
    cell = farm(claims, program=Pin(name="claiming", version="1"), oracle=says("false"))
    run(cell)
    evidence = the_evidence(cell)
    assert evidence.governed == Governed(claims_success=True)
    assert evidence.oracle.correct is False


def test_a_plan_phase_that_changes_anything_else_leaves_no_evidence(farm: Make, run: Run) -> None:
    strays = {"write": {"path": "src/a.py", "text": "A = 2\n"}}
    cell = farm(program=PLAN_WORK, scripts={"plan": [WRITES_A_PLAN, strays], "work": [WORKS]})
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.EVIDENCE
    assert fault.detail == "plan-evidence-invalid: session 'plan' changed what it may not: src/a.py"
    assert not any(one.role.startswith("session.work") for one in cell.outcome().artifacts)


def test_work_that_changes_what_it_may_not_leaves_no_evidence(farm: Make, run: Run) -> None:
    program = Pin(name="direct", version="1", options={"may_not_change": ["src/a.py"]})
    cell = farm({"append": {"path": "src/a.py", "text": "A = 2\n"}}, program=program)
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.detail.startswith("implementation-evidence-invalid: session 'work' changed what it may not: src/a.py")


@pytest.mark.parametrize(("program", "script"), [(DIRECT, {}), (PLAN_WORK, {"plan": [WRITES_A_PLAN]})])
def test_a_session_that_was_to_work_and_changed_nothing_gave_a_wrong_answer(
    farm: Make, run: Run, program: Pin, script: dict[str, Any]
) -> None:
    cell = farm(program=program, scripts={"work": [], **script}, oracle=says("true"))
    run(cell)
    oracle = the_evidence(cell).oracle
    assert oracle.correct is False
    assert (oracle.answer_error or "").startswith("no-work-produced: nothing was changed")


def test_a_reviewer_changes_nothing_and_its_file_comes_out(farm: Make, run: Run) -> None:
    writes = "(echo x >src/a.py || rm -f src/a.py || touch new || mkdir folder || git add -A) 2>/dev/null"
    sealed = {"run": {"command": f"! {writes} && test -w $FARM_OUT/review", "must_succeed": True}}
    in_the_tool_room = {"tool_run": {"command": f"{writes} && touch $FARM_OUT/review/the-tool-wrote"}}
    empty = {"run": {"command": 'test -z "$(ls -A $FARM_OUT/review)"', "must_succeed": True}}
    cell = farm(empty, sealed, in_the_tool_room, REVIEWS, program=REVIEW, plugins=ASKING)
    assert run(cell) is LineEnd.RECORDED
    evidence = the_evidence(cell)
    assert evidence.sessions[0].problem is None
    assert evidence.oracle.correct is True
    assert evidence.workspace_before == evidence.workspace_after
    assert cell.artifact("review") == b"{}\n"
    assert "out/review/the-tool-wrote" not in {one.role for one in cell.outcome().artifacts}


def test_a_review_beside_a_changed_workspace_is_no_evidence_however_good_it_is(
    farm: Make, run: Run, bubblewrap: Bubblewrap
) -> None:
    def changed_all_the_same(number: int, box: SandboxSpec) -> None:
        if number == 1:  # as in a sandbox that does not hold what it mounts read-only
            (next(bind.source for bind in box.binds if bind.target == WORKSPACE) / "src/a.py").write_text("A = 2\n")

    cell = farm(REVIEWS, program=REVIEW, plugins=ASKING, sandbox=HookedSandbox(bubblewrap, changed_all_the_same))
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.detail == "review-evidence-invalid: session 'review' changed what it may not: src/a.py"
    assert cell.artifact("review") == b"{}\n"


@pytest.mark.parametrize(
    ("leaves", "broken"),
    [
        ("touch .agent/state.json && mkdir -p .agent/log/today && touch .agent/log/today/1", None),
        ("mkdir .agent/agents && touch .agent/agents/evil.md", ".agent/agents/evil.md"),
        ("touch .agent/settings.json", ".agent/settings.json"),
        ("ln -s ../src .agent/log", ".agent/log"),
        ("mkdir -p pkg && touch pkg/.agent", "pkg/.agent"),
    ],
)
def test_an_agents_own_bookkeeping_is_left_out_by_name_and_nothing_beside_it(
    farm: Make, run: Run, leaves: str, broken: str | None
) -> None:
    options = {"beside": [".agent/state.json", ".agent/log/*/*"]}
    scripts = {"plan": [WRITES_A_PLAN, {"run": {"command": f"mkdir .agent && {leaves}"}}], "work": [WORKS]}
    cell = farm(program=Pin(name="plan-work", version="1", options=options), scripts=scripts)
    run(cell)
    fault = cell.outcome().fault
    assert (fault is None) == (broken is None)
    if fault is not None:
        assert fault.detail == f"plan-evidence-invalid: session 'plan' changed what it may not: {broken}"


@pytest.mark.parametrize(
    ("leaves", "says_what"),
    [
        ("true", "never written"),
        ("touch review.json", "empty"),
        ("ln -s /etc/passwd review.json", "no regular file"),
        ("ln -s other.json review.json && echo '{}' >other.json", "no regular file"),
        ("mkdir review.json", "no regular file"),
        ("head -c 300000 /dev/zero >review.json", "larger"),
        ("cd .. && rmdir review && ln -s /etc review", "no regular file"),
    ],
)
def test_a_bad_review_is_no_artifact_and_says_what_it_is(farm: Make, run: Run, leaves: str, says_what: str) -> None:
    cell = farm({"run": {"command": f"cd $FARM_OUT/review && {leaves}"}}, program=REVIEW, plugins=ASKING)
    run(cell)
    assert says_what in (the_evidence(cell).oracle.answer_error or "")
    assert "review" not in {one.role for one in cell.outcome().artifacts}


class TwiceReviewing:
    """A session that may do anything, and then a review."""

    version = "1"

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self._review = GIVEN["programs"]["review"]({})

    def perform(self, prompt: str, sessions: Any) -> Any:
        return (sessions.run("before", prompt), *self._review.perform(prompt, sessions))


@pytest.mark.parametrize("made", ["mkdir review", "touch review", "ln -s /etc review", "ln -s ../ws review"])
def test_a_place_that_an_earlier_session_prepared_is_refused_and_left_alone(farm: Make, run: Run, made: str) -> None:
    plugins = Plugins({**GIVEN, "programs": {"single": TwiceReviewing}})
    cell = farm(plugins=plugins, scripts={"before": [{"run": {"command": f"cd $FARM_OUT && {made}"}}], "review": []})
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.EVIDENCE
    assert fault.detail.startswith("review-evidence-invalid: session 'review' can't begin")


def test_each_phase_has_its_own_skill_and_its_own_denied_tools(farm: Make, run: Run) -> None:
    options: dict[str, Any] = {
        "plan": {"skill": "planning", "denied_tools": ["edit"]},
        "work": {"skill": "working"},
    }
    calls = [{"tool": {"name": "edit"}}, {"skill": {"name": "/house:planning now"}}]
    scripts = {"plan": [WRITES_A_PLAN, *calls[1:]], "work": [WORKS, *calls]}
    cell = farm(program=Pin(name="plan-work", version="1", options=options), scripts=scripts)
    run(cell)
    plan, work = the_evidence(cell).sessions
    assert (plan.reason, work.reason) == ("success", "skill-not-invoked")
    assert work.tool_calls == {"edit": 1}
