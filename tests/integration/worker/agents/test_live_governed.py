"""Real agents under a contract, in the whole line, against the scripted provider."""

import json
from pathlib import Path
from typing import Any

import pytest

from farm.model import SUCCESS_LINE, Pin, Terminal, Wire
from farm.plugins import Plugins
from tests.builders.worker.farm import GIVEN
from tests.builders.worker.working import Make, Run
from tests.services.provider import serving
from worker.agents.claude_code import ClaudeCodeAgent
from worker.agents.codex import CodexAgent
from worker.gateway import Upstream

PLUGINS = Plugins({**GIVEN, "agents": {"claude-code": ClaudeCodeAgent, "codex": CodexAgent}})
CHECKS = [
    {"id": "ready", "kind": "file_contains", "path": "out.txt", "text": "READY"},
    {"id": "shell", "kind": "tool_succeeded", "tool": "SHELL", "arguments_contain": "READY"},
]
CLAIM = {"id": "made", "statement": "It is ready.", "importance": "critical", "checks": ["ready", "shell"]}
USAGE = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120}
DONE = {"answer": f"Done.\n{SUCCESS_LINE}"}
WORKS = {"run": {"command": "echo READY > out.txt"}}


def opens(shell: str) -> dict[str, Any]:
    contract = json.dumps({"objective": "Fix it.", "claims": [CLAIM], "checks": CHECKS}).replace("SHELL", shell)
    return {"run": {"command": f"echo '{contract}' > /cell/out/governor/contract.json"}}


@pytest.mark.parametrize(
    ("agent", "shell"),
    [
        (Pin(name="claude-code", version="1", options={"model": "claude-opus-5-5"}), "Bash"),
        (Pin(name="codex", version="1", options={"model": "gpt-6.2-sol"}), "command_execution"),
    ],
    ids=["claude-code", "codex"],
)
def test_it_goes_on_with_its_session_until_its_checks_pass(
    farm: Make, run: Run, agents_folder: Path, agent: Pin, shell: str
) -> None:
    script = {"default_usage": USAGE, "rules": [{"turns": [{"tools": [opens(shell)]}, DONE, {"tools": [WORKS]}, DONE]}]}
    program = Pin(name="governed", version="1")
    cell = farm(agent=agent, provider="acme", program=program, agents=agents_folder, plugins=PLUGINS)
    with serving(script) as provider:
        cell.upstreams["acme"] = Upstream("acme", frozenset(Wire), provider.url, "k")
        run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    first, second = evidence.sessions
    assert (first.problem, second.problem) == (None, None)
    assert first.session_id == second.session_id
    assert evidence.governed is not None
    assert [[one.detail for one in attempt.results] for attempt in evidence.governed.attempts] == [
        ["the path is absent", "0 of 1 such calls succeeded"],
        ["", ""],
    ]
    assert (evidence.governed.terminal, evidence.governed.claims_success) == (Terminal.CERTIFIED, True)
    assert second.usage is not None
    assert first.usage is not None
    assert second.usage.output_tokens == first.usage.output_tokens == 240
    assert first.cost_usd == second.cost_usd
