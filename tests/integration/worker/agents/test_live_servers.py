"""What an arm brings, in the hands of the real agents: skills to read, and MCP servers that can but answer."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farm.model import Limits, Pin, SessionReport, Wire
from farm.plugins import Plugins
from tests.builders.worker.farm import GIVEN, Farm
from tests.builders.worker.mcp_server import SERVER, seen
from tests.builders.worker.working import Make, Run
from tests.services.provider import serving
from worker.agents.claude_code import ClaudeCodeAgent
from worker.agents.codex import CodexAgent
from worker.agents.gemini_cli import GeminiCliAgent
from worker.agents.opencode import OpencodeAgent
from worker.agents.qwen_code import QwenCodeAgent
from worker.gateway import Upstream
from worker.session import DOOR_KEY, Launch, SessionRequest

KEY = "sk-the-real-key-of-this-worker"
LIMITS = Limits(wall_s=90.0)
ROOM = "/.server"
NO_ROOM = "/usr/bin/env"
SKILL = "---\nname: greet\ndescription: Greets.\n---\nSay PLATYPUS.\n"


class ClaudeWithoutRoom(ClaudeCodeAgent):
    """Starts its servers as it would on a desk: as its own children."""

    def launch(self, request: SessionRequest) -> Launch:
        launch = super().launch(request)
        files = {name: body.replace(ROOM.encode(), NO_ROOM.encode()) for name, body in launch.home_files.items()}
        return replace(launch, home_files=files, starts_servers=False)


class CodexWithoutRoom(CodexAgent):
    """The same of the other."""

    def launch(self, request: SessionRequest) -> Launch:
        launch = super().launch(request)
        argv = tuple(word.replace(ROOM, NO_ROOM) for word in launch.argv)
        return replace(launch, argv=argv, starts_servers=False)


AGENTS: Mapping[str, Any] = {
    "claude-code": ClaudeCodeAgent,
    "codex": CodexAgent,
    "opencode": OpencodeAgent,
    "qwen-code": QwenCodeAgent,
}
BARE: Mapping[str, Any] = {"claude-code": ClaudeWithoutRoom, "codex": CodexWithoutRoom}
MODELS = {"claude-code": "claude-opus-5-5", "codex": "gpt-x", "gemini-cli": "gemini-2.5-pro"}
CALLS = {
    "claude-code": "mcp__tools__look",
    "codex": "mcp__tools.look",
    "opencode": "tools_look",
    "qwen-code": "mcp__tools__look",
}
EVERY = pytest.mark.parametrize("kind", AGENTS)
LOOKING = {"asset": "kit", "argv": ["python3", "{asset}/server.py"], "env": {"DEPTH": "3"}}


@pytest.fixture
def bodies() -> list[bytes]:
    """Hold what the provider was asked."""
    return []


@pytest.fixture
def played(farm: Make, run: Run, agents_folder: Path, bodies: list[bytes]) -> Callable[..., Farm]:
    """Run a cell of a real agent before a provider that has it call `tool` once; give what came of it."""

    def play(agents: Mapping[str, Any], kind: str, call: Mapping[str, Any], when: Any = None, **options: Any) -> Farm:
        plugins = Plugins({**GIVEN, "agents": agents})
        pinned = agents[kind]({"model": MODELS.get(kind, "m-1"), **options})
        cell = farm(
            agent=Pin(name=kind, version=pinned.version, options=pinned.options),
            provider="acme",
            plugins=plugins,
            agents=agents_folder,
            limits=LIMITS,
            assets={"kit": {"server.py": SERVER}, "house": {"greet/SKILL.md": SKILL}},
        )
        rule = {"when": when or {}, "turns": [{"tools": [call]}, {"answer": "done"}]}
        script = {"rules": [rule], "default_usage": {"ordinary_input": 10, "output": 3}}
        with serving(script) as provider:
            cell.upstreams["acme"] = Upstream("acme", frozenset(Wire), provider.url, KEY)
            run(cell)
        bodies.extend(asked.body for asked in provider.requests)
        return cell

    return play


def the_session(cell: Farm) -> SessionReport:
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    (session,) = evidence.sessions
    return session


@EVERY
def test_a_server_answers_and_has_no_door_no_network_no_key_and_nothing_to_write(
    played: Callable[..., Farm], kind: str
) -> None:
    cell = played(AGENTS, kind, {"call": {"name": CALLS[kind], "input": {}}}, mcp={"tools": LOOKING})
    session = the_session(cell)
    assert (session.problem, session.final_answer) == (None, "done")
    assert session.tool_calls == {"tools_look" if kind == "opencode" else "mcp__tools__look": 1}
    found = seen(cell.artifact("session.work.events"))
    environment = found.pop("environment")
    assert found == {
        "door": ["FileNotFoundError", "ConnectionRefusedError"],
        "interfaces": ["lo"],
        "reads": "A repository.\n",
        "writes": ["OSError", "OSError"],
    }
    assert set(environment) - {"LC_CTYPE"} == {"DEPTH", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"}
    assert (environment["DEPTH"], environment["PWD"]) == ("3", "/cell/ws")


@pytest.mark.parametrize("kind", BARE)
def test_without_the_room_the_same_server_reaches_the_door_and_writes_the_workspace(
    played: Callable[..., Farm], kind: str
) -> None:
    cell = played(BARE, kind, {"call": {"name": CALLS[kind], "input": {}}}, mcp={"tools": LOOKING})
    assert the_session(cell).problem is None
    found = seen(cell.artifact("session.work.events"))
    assert (found["door"], found["writes"]) == (["reached", "reached"], ["written", "OSError"])
    assert (DOOR_KEY in found["environment"].values()) is (kind == "claude-code")  # Codex keeps its key to itself


@EVERY
def test_a_server_that_does_not_start_is_told_with_the_session(played: Callable[..., Farm], kind: str) -> None:
    broken = {**LOOKING, "argv": ["python3", "{asset}/nowhere.py"]}
    session = the_session(played(AGENTS, kind, {"run": {"command": "true"}}, mcp={"tools": broken}))
    assert session.reason == ("crashed" if kind == "codex" else "stream_invalid")
    assert session.problem is not None
    assert "MCP server" in session.problem


@EVERY
def test_a_tool_that_the_arm_does_not_name_is_not_to_be_called(played: Callable[..., Farm], kind: str) -> None:
    named = {**LOOKING, "tools": ["hide"]}
    cell = played(AGENTS, kind, {"call": {"name": CALLS[kind], "input": {}}}, mcp={"tools": named})
    assert b"SEEN " not in cell.artifact("session.work.events")


def test_codex_is_told_of_a_folder_of_skills(played: Callable[..., Farm]) -> None:
    text = "cat $HOME/.agents/skills/house/greet/SKILL.md; touch $HOME/.agents/skills/house/x 2>&1; true"
    when = {"instructions": "greet: Greets."}
    call = {"run": {"command": text}}
    cell = played(AGENTS, "codex", call, when=when, skills=["house"], required_skill="greet")
    assert the_session(cell).problem is None
    events = cell.artifact("session.work.events")
    assert b"Say PLATYPUS." in events
    assert b"Read-only file system" in events


@pytest.mark.parametrize(
    ("agent", "kind"), [(GeminiCliAgent, "gemini-cli"), (OpencodeAgent, "opencode"), (QwenCodeAgent, "qwen-code")]
)
def test_a_skill_of_the_arm_reaches_the_model_when_it_asks_for_it(
    played: Callable[..., Farm], bodies: list[bytes], agent: Any, kind: str
) -> None:
    session = the_session(
        played({kind: agent}, kind, {"skill": {"name": "greet"}}, skills=["house"], required_skill="greet")
    )
    assert (session.problem, session.final_answer) == (None, "done")
    assert [b"Say PLATYPUS." in body for body in bodies] == [False, True]


def test_a_folder_of_skills_is_loaded_and_can_not_be_changed(played: Callable[..., Farm]) -> None:
    call = {"skill": {"name": "house:greet"}}
    there = played(AGENTS, "claude-code", call, skills=["house"], required_skill="greet")
    assert the_session(there).problem is None
    text = "cat /cell/skills/house/skills/greet/SKILL.md; touch /cell/skills/house/skills/x"
    changing = {
        "run": {"command": f"sh -c '{text}'"}
    }  # Claude Code denies a plain `touch` outside the workspace itself
    changed = played(AGENTS, "claude-code", changing, skills=["house"]).artifact("session.work.events")
    assert b"Say PLATYPUS." in changed
    assert b"Read-only file system" in changed
