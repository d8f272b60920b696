"""Claude Code in programs of several phases: what it leaves by itself breaks no bounds, and what may not be can not."""

from pathlib import Path
from typing import Any

import pytest

from farm.model import Evidence, Pin, Wire
from farm.plugins import Plugins
from sandbox.backends.bubblewrap import Bubblewrap
from tests.builders.worker.farm import GIVEN, Farm, says
from tests.builders.worker.working import Run
from tests.services.provider import serving
from worker.agents.claude_code import ClaudeCodeAgent
from worker.gateway import Upstream

MODEL = "claude-opus-5-5"
USAGE = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120}
KNOWN = Plugins({**GIVEN, "agents": {"claude-code": ClaudeCodeAgent}})


def a_program(kind: str, **options: Any) -> Pin:
    return Pin(name=kind, version="1", options=options)


def lived(farm: Farm, run: Run, rules: list[dict[str, Any]]) -> Evidence:
    with serving({"rules": rules, "default_usage": USAGE}) as provider:
        farm.upstreams["acme"] = Upstream("acme", frozenset({Wire.ANTHROPIC}), provider.url, "k")
        run(farm)
    farm.gateway.close()
    evidence = farm.outcome().evidence
    assert evidence is not None, farm.outcome().fault
    return evidence


@pytest.fixture
def stage(bubblewrap: Bubblewrap, work_root: Path, agents_folder: Path) -> Any:
    agent = Pin(name="claude-code", version="1", options=ClaudeCodeAgent({"model": MODEL}).options)

    def make(**changes: Any) -> Farm:
        return Farm(work_root, bubblewrap, agent=agent, provider="acme", plugins=KNOWN, agents=agents_folder, **changes)

    return make


def test_a_plan_is_written_and_carried_out(stage: Any, run: Run) -> None:
    plan = {"tools": [{"write": {"path": "docs/plans/fix.md", "text": "1. Write c.\n"}}]}
    work = {"tools": [{"run": {"command": "cp docs/plans/fix.md src/c.py"}}]}
    rules = [
        {"when": {"prompt": "Write the plan to", "turn": 0}, "reply": plan},
        {"when": {"prompt": "Carry out the plan in docs/plans/fix.md", "turn": 0}, "reply": work},
        {"reply": {"answer": "Done."}},
    ]
    evidence = lived(stage(program=a_program("plan-work"), oracle=says("grep -q Write src/c.py")), run, rules)
    assert [(session.name, session.problem) for session in evidence.sessions] == [("plan", None), ("work", None)]
    assert evidence.oracle.correct is True


def test_a_review_is_written_beside_a_workspace_that_stays_as_it_is(stage: Any, run: Run) -> None:
    review = {"name": "Write", "input": {"file_path": "/cell/out/review/review.json", "content": "{}\n"}}
    rules = [
        {"when": {"turn": 0}, "reply": {"tools": [{"run": {"command": "touch src/new.py; echo x >src/a.py"}}]}},
        {"when": {"turn": 1}, "reply": {"tools": [{"call": review}]}},
        {"reply": {"answer": "Done."}},
    ]
    cell = stage(program=a_program("review", denied_tools=["Edit"]))
    evidence = lived(cell, run, rules)
    assert evidence.sessions[0].problem is None
    assert evidence.workspace_before == evidence.workspace_after
    assert cell.artifact("review") == b"{}\n"
