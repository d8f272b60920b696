"""The stand-in, for real: in the line's sandbox, through the gateway, against the scripted provider."""

import json
from typing import Any

import pytest

from farm.model import SUCCESS_LINE, FaultKind, OracleSpec, Outcome, Pin, SessionReport, Terminal, Usage, Wire
from tests.builders.worker.farm import Farm, says
from tests.builders.worker.working import Make, Run
from tests.services.provider import serving
from worker.gateway import Upstream

USE = {"ordinary_input": 10, "cache_read": 20, "cache_write": 0, "output": 3}


def turns(*replies: dict[str, Any]) -> dict[str, Any]:
    return {"default_usage": USE, "rules": [{"turns": list(replies)}]}


def stand_in(**options: Any) -> Pin:
    return Pin(name="stand-in", version="1", options={"model": "m"} | options)


def asked(make: Make, run: Run, script: dict[str, Any], oracle: OracleSpec | None = None, **options: Any) -> Farm:
    """Run one cell of the stand-in."""
    cell = make(agent=stand_in(**options), provider="acme", oracle=oracle or says("true"))
    with serving(script) as provider:
        cell.upstreams["acme"] = Upstream("acme", frozenset({Wire.ANTHROPIC}), provider.url, "k")
        run(cell)
    return cell


def the_session(outcome: Outcome) -> SessionReport:
    assert outcome.evidence is not None, outcome.fault
    (session,) = outcome.evidence.sessions
    return session


def test_it_writes_files_and_runs_commands_for_real_and_forwards_the_usage_that_it_got(farm: Make, run: Run) -> None:
    script = turns(
        {
            "tools": [
                {"write": {"path": "new/a.txt", "text": "one\n"}},
                {"run": {"command": "tr o O < new/a.txt > b.txt"}},
            ]
        },
        {"text": "Done."},
    )
    cell = asked(farm, run, script, says("grep -qx One b.txt && grep -qx one new/a.txt"))
    outcome = cell.outcome()
    session = the_session(outcome)
    assert outcome.evidence is not None
    assert outcome.evidence.oracle.correct
    assert (session.problem, session.final_answer, session.turns) == (None, "Done.", 2)
    assert session.tool_calls == {"Write": 1, "Bash": 1}
    said = Usage(input_tokens=20, cached_input_tokens=40, cache_write_tokens=0, output_tokens=6)
    assert session.usage == said
    assert session.door is not None
    assert (session.door.tokens.whole, session.door.tokens.output) == (60, 6)


def test_its_commands_have_no_door(farm: Make, run: Run) -> None:
    look = "test ! -e /run/model.sock && ! (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null && echo none > found.txt"
    script = turns({"tools": [{"run": {"command": f"bash -c '{look}'"}}]}, {"text": "Looked."})
    cell = asked(farm, run, script, says("grep -qx none found.txt"))
    outcome = cell.outcome()
    assert the_session(outcome).problem is None
    assert outcome.evidence is not None
    assert outcome.evidence.oracle.correct


def test_a_skill_that_an_arm_requires_is_proven(farm: Make, run: Run) -> None:
    put = {"run": {"command": "mkdir -p .claude/skills/care && echo Take care. > .claude/skills/care/SKILL.md"}}
    used = turns({"tools": [put]}, {"tools": [{"skill": {"name": "care"}}]}, {"text": "Done."})
    assert the_session(asked(farm, run, used, required_skill="care").outcome()).reason == "success"
    failed = turns({"tools": [{"skill": {"name": "care"}}]}, {"text": "Done."})
    assert the_session(asked(farm, run, failed, required_skill="care").outcome()).reason == "skill-not-invoked"


def test_a_denied_tool_is_refused_and_told(farm: Make, run: Run) -> None:
    script = turns({"tools": [{"run": {"command": "echo x > x.txt"}}]}, {"text": "Done."})
    cell = asked(farm, run, script, says("test ! -e x.txt"), denied_tools=["Bash"])
    outcome = cell.outcome()
    assert the_session(outcome).reason == "permission_denied"
    assert outcome.evidence is not None
    assert outcome.evidence.oracle.correct


@pytest.mark.parametrize("path", ["../outside.txt", "/cell/out/x.txt"])
def test_it_writes_nothing_outside_the_workspace(farm: Make, run: Run, path: str) -> None:
    call = {"call": {"name": "Write", "input": {"file_path": path, "content": "x"}}}
    cell = asked(farm, run, turns({"tools": [call]}, {"text": "Done."}))
    assert the_session(cell.outcome()).problem is None
    assert b"is outside the workspace" in cell.artifact("session.work.events")


def test_a_model_that_never_ends_is_cut_at_the_turns(farm: Make, run: Run) -> None:
    script = {"default_usage": USE, "rules": [{"reply": {"tools": [{"run": {"command": "true"}}]}}]}
    session = the_session(asked(farm, run, script, most_turns=3).outcome())
    assert (session.reason, session.turns) == ("error_max_turns", 3)


def test_a_provider_that_fails_it_is_told_with_a_result_of_its_own(farm: Make, run: Run) -> None:
    cell = asked(farm, run, {"rules": [{"reply": {"error": {"status": 503}}}]})
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, "503" in fault.detail) == (FaultKind.PROVIDER, True)
    assert cell.artifact("session.work.events").count(b'"type": "result"') == 1


def test_a_number_that_one_answer_lacks_is_not_in_its_sum(farm: Make, run: Run) -> None:
    first = {"tools": [{"run": {"command": "true"}}], "usage": {"ordinary_input": 5, "output": 1}}
    script = {"rules": [{"turns": [first, {"text": "Done.", "usage": {"output": 2}}]}]}
    session = the_session(asked(farm, run, script).outcome())
    assert session.usage == Usage(output_tokens=3)
    assert session.door is not None
    assert (session.door.tokens.whole, session.door.tokens.output, session.door.unmeasured) == (None, 3, 2)


def test_a_governed_run_goes_on_with_its_conversation(farm: Make, run: Run) -> None:
    check = {"id": "ready", "kind": "file_contains", "path": "out.txt", "text": "READY"}
    claim = {"id": "made", "statement": "It is ready.", "importance": "critical", "checks": ["ready"]}
    contract = json.dumps({"objective": "Fix it.", "claims": [claim], "checks": [check]})
    opens = {"run": {"command": f"echo '{contract}' > /cell/out/governor/contract.json"}}
    works = {"run": {"command": "echo READY > out.txt"}}
    done = {"answer": f"Done.\n{SUCCESS_LINE}"}
    script = turns({"tools": [opens]}, done, {"tools": [works]}, done)
    cell = farm(agent=stand_in(), provider="acme", program=Pin(name="governed", version="1"))
    with serving(script) as provider:
        cell.upstreams["acme"] = Upstream("acme", frozenset({Wire.ANTHROPIC}), provider.url, "k")
        run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    assert evidence.governed is not None
    assert [one.passed for one in evidence.governed.attempts] == [False, True]
    assert (evidence.governed.terminal, evidence.governed.claims_success) == (Terminal.CERTIFIED, True)
