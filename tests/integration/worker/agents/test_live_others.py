"""One session of every other real agent on every wire that it speaks: in a real sandbox, at a real gateway's door."""

import json
from collections.abc import Callable

import pytest

from farm.model import RequestEnd, Wire
from tests.builders.worker.live import REAL_KEY, Stage
from tests.services.provider import serving
from worker.agents.aider import AiderAgent
from worker.agents.gemini_cli import GeminiCliAgent
from worker.agents.opencode import OpencodeAgent
from worker.agents.qwen_code import QwenCodeAgent
from worker.session import Agent

AGENTS: dict[str, Callable[[], Agent]] = {
    "gemini-cli": lambda: GeminiCliAgent({"model": "gemini-2.5-pro"}),
    "opencode": lambda: OpencodeAgent({"model": "m-1"}),
    "qwen-code": lambda: QwenCodeAgent({"model": "m-1"}),
}
SPOKEN = [(name, wire) for name, make in AGENTS.items() for wire in make().wires]
FIRST = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
SECOND = {"ordinary_input": 10, "cache_read": 45000, "cache_write": 500, "output": 30, "reasoning": 5}
SCRIPT = {
    "rules": [
        {
            "turns": [
                {"tools": [{"run": {"command": "env > seen"}}], "usage": FIRST},
                {"answer": "All done.", "usage": SECOND},
            ]
        }
    ]
}


@pytest.mark.parametrize(("name", "wire"), SPOKEN)
def test_a_session_does_its_work_is_counted_alike_and_sees_no_real_key(name: str, wire: Wire, stage: Stage) -> None:
    stage.wire = wire
    with serving(SCRIPT) as provider:
        lived = stage.play(AGENTS[name](), provider.url, instructions="Speak of walruses.")
        assert all("Speak of walruses." in asked.line() for asked in provider.requests)
    report, door = lived.report, lived.door
    assert (report.problem, report.final_answer) == (None, "All done.")
    assert sum((report.tool_calls or {}).values()) == 1
    assert door.ends == {RequestEnd.ANSWERED: 2}
    assert (door.tokens.whole, door.tokens.cache_read, door.tokens.output) == (93510, 89000, 150)
    assert report.usage is not None
    assert (report.usage.cached_input_tokens, report.usage.output_tokens) == (89000, 150)

    assert REAL_KEY.encode() not in lived.files["seen"]
    assert lived.survivors == []


def test_qwen_code_starts_no_server_that_the_workspace_names(stage: Stage) -> None:
    servers = {"mcpServers": {"evil": {"command": "/usr/bin/touch", "args": ["/cell/ws/started"], "trust": True}}}
    text = json.dumps(servers)
    with serving(SCRIPT) as provider:
        lived = stage.play(
            AGENTS["qwen-code"](), provider.url, workspace={".qwen/settings.json": text, ".mcp.json": text}
        )
    assert lived.report.problem is None
    assert "seen" in lived.files
    assert "started" not in lived.files


@pytest.mark.parametrize("wire", AiderAgent.wires)
def test_aider_edits_by_what_the_model_says_and_is_metered(wire: Wire, stage: Stage) -> None:
    edit = "hello.txt\n```\nhello from the script\n```\n"
    stage.wire = wire
    with serving({"rules": [{"reply": {"text": edit, "usage": FIRST}}]}) as provider:
        agent = AiderAgent({"model": "m-1", "edit_format": "whole"})
        lived = stage.play(agent, provider.url, instructions="Speak of walruses.")
        assert all("Speak of walruses." in asked.line() for asked in provider.requests)
    assert (lived.report.problem, lived.files) == (None, {"hello.txt": b"hello from the script\n"})
    assert (lived.door.ends, lived.door.tokens.whole) == ({RequestEnd.ANSWERED: 1}, 48000)


def test_fact_43_a_key_that_is_refused_is_seen_at_the_door_where_aider_exits_with_0(stage: Stage) -> None:
    with serving({"rules": [{"reply": {"error": {"status": 401}}}]}) as provider:
        lived = stage.play(AiderAgent({"model": "m-1"}), provider.url)
    assert (lived.report.exit.is_zero, lived.report.reason) == (True, "AuthenticationError")
    assert lived.door.last_failure == RequestEnd.DENIED
