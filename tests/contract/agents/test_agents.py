"""What every agent adapter promises, whatever its options and whatever a guest writes."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farm.errors import SpecError
from farm.model import (
    Cell,
    Digest,
    ExitKind,
    OracleSpec,
    ProcessExit,
    SessionReport,
    Snapshot,
    Task,
    canonical_json,
)
from sandbox.spec import Stream
from tests.builders.worker.recorded import DATA, played, recordings
from worker.agents.aider import AiderAgent
from worker.agents.claude_code import ClaudeCodeAgent
from worker.agents.codex import CodexAgent
from worker.agents.command import CommandAgent
from worker.agents.gemini_cli import GeminiCliAgent
from worker.agents.mini_swe_agent import MiniSweAgent
from worker.agents.opencode import OpencodeAgent
from worker.agents.qwen_code import QwenCodeAgent
from worker.agents.scripted import ScriptedAgent
from worker.agents.stand_in import StandInAgent
from worker.session import AGENT, HOME, Agent, Narrating, SessionProgress, SessionRequest

MCP = {"tools": {"asset": "kit", "argv": ["python3", "{asset}/server.py"]}}
AGENTS: dict[str, Callable[[], Agent]] = {
    "claude-code": lambda: ClaudeCodeAgent({"model": "claude-opus-5-5", "required_skill": "a"}),
    "claude-code, served": lambda: ClaudeCodeAgent({"model": "m-1", "mcp": MCP, "plugins": ["p"], "skills": ["s"]}),
    "codex, served": lambda: CodexAgent({"model": "m-1", "mcp": MCP, "skills": ["s"]}),
    "codex": lambda: CodexAgent({"model": "gpt-x", "required_skill": "a"}),
    "stand-in": lambda: StandInAgent({"model": "m", "required_skill": "a"}),
    "aider": lambda: AiderAgent({"model": "m-1"}),
    "gemini-cli": lambda: GeminiCliAgent({"model": "m-1"}),
    "qwen-code": lambda: QwenCodeAgent({"model": "m-1"}),
    "mini-swe-agent": lambda: MiniSweAgent({"model": "m-1"}),
    "opencode, served": lambda: OpencodeAgent({"model": "m-1", "mcp": MCP, "skills": ["s"]}),
    "qwen-code, served": lambda: QwenCodeAgent({"model": "m-1", "mcp": MCP, "skills": ["s"], "required_skill": "a"}),
    "gemini-cli, skilled": lambda: GeminiCliAgent({"model": "m-1", "skills": ["s"], "required_skill": "a"}),
    "opencode": lambda: OpencodeAgent({"model": "m-1", "required_skill": "a"}),
    "scripted": lambda: ScriptedAgent({"scripts": {"*": [{"say": "hi"}]}}),
    "command, text": lambda: CommandAgent({"argv": ["cli"]}),
    "command, json": lambda: CommandAgent({"argv": ["cli"], "answer": {"from": "json", "pointer": "/a"}}),
    "command, lines": lambda: CommandAgent({"argv": ["cli"], "answer": {"from": "json-lines", "pointer": "/a"}}),
}
PREFIXES = {
    "claude-code": "claude",
    "codex": "codex.",
    "mini-swe-agent": "mini-swe-agent.",
    "opencode": "opencode.",
    "gemini-cli": "gemini.",
    "qwen-code": "qwen.",
    "aider": "aider.",
    "stand-in": "stand-in.",
}
"""How the recordings of the real ones begin."""
EVERY = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS.keys())

PIECES = st.sampled_from(
    [b"{", b"}", b'"type"', b'"item"', b'"item.completed"', b'"turn.completed"', b'"message"', b'"content"',
     b'"assistant"', b'"system"', b'"subtype"', b'"init"', b'"usage"', b'"is_error"', b'"permission_denials"',
     b": ", b'"result"', b'"a"', b'"answer"', b"\n", b"[", b"]", b"1", b"true", b'"reason"',
     b'"success"', b",", b"\xff", b"\0", b'"\\ud800"', b"1e999", b'"tool_use"', b'"name"', b'"count"']
)  # fmt: skip
OUTPUT = st.lists(st.one_of(PIECES, st.binary(max_size=20)), max_size=60)
EXITS = st.sampled_from(
    [
        ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0),
        ProcessExit(kind=ExitKind.EXITED, code=1, wall_s=1.0),
        ProcessExit(kind=ExitKind.SIGNALED, signal=9, wall_s=1.0),
        ProcessExit(kind=ExitKind.LIMIT, limit="wall", wall_s=1.0),
        ProcessExit(kind=ExitKind.LIMIT, limit="output", wall_s=1.0),
        ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0),
    ]
)


def a_request() -> SessionRequest:
    digest = Digest.of(b"")
    task = Task(
        id="fix",
        snapshot=Snapshot(commit="0" * 40, tree=digest, size_bytes=0),
        prompt=digest,
        oracle=OracleSpec(kind="answer"),
    )
    return SessionRequest("work", Cell(task="fix", arm="base", trial=1), task, "Fix it.", "Be brief.")


def said(agent: Agent, chunks: list[bytes], exit_: ProcessExit) -> SessionReport:
    parser = agent.parser("work")
    for chunk in chunks:
        parser.feed(Stream.STDOUT, chunk)
        parser.feed(Stream.STDERR, chunk)
    return parser.finish(exit_)


@EVERY
@given(chunks=OUTPUT, exit_=EXITS)
def test_whatever_a_guest_writes_makes_a_report_that_can_be_recorded(
    make: Callable[[], Agent], chunks: list[bytes], exit_: ProcessExit
) -> None:
    report = said(make(), chunks, exit_)
    assert (report.problem is None) == (report.reason == "success")
    assert report.exit == exit_
    assert report.problem is not None or exit_.is_zero
    canonical_json(report)


@EVERY
@given(chunks=OUTPUT)
def test_where_the_output_is_cut_into_chunks_makes_no_difference(
    make: Callable[[], Agent], chunks: list[bytes]
) -> None:
    done = ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0)
    assert said(make(), chunks, done) == said(make(), [b"".join(chunks)], done)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in PREFIXES for name in recordings(PREFIXES[kind])],
)
def test_what_a_real_agent_wrote_is_read_alike_however_it_is_cut(kind: str, name: str) -> None:
    agent = AGENTS[kind]()
    whole = played(agent, name, chunk=1 << 24)
    assert (whole.problem is None) == (whole.reason == "success")
    for chunk in (1, 7, 4096):
        assert played(agent, name, chunk=chunk) == whole


@EVERY
def test_the_prompt_and_the_instructions_are_in_the_launch(make: Callable[[], Agent]) -> None:
    launch = make().launch(a_request())
    whole = b"\0".join([launch.stdin, *(word.encode() for word in launch.argv), *launch.home_files.values()])
    assert b"Fix it." in whole
    assert b"Be brief." in whole


@EVERY
def test_an_agent_that_asks_models_names_its_program_and_is_no_more_than_its_arm_allows(
    make: Callable[[], Agent],
) -> None:
    agent = make()
    launch = agent.launch(a_request())
    assert bool(agent.wires) == bool(launch.models)
    assert agent.program is None or agent.wires
    assert agent.program is None or launch.argv[0].startswith(f"{AGENT}/")
    assert agent.program is None or launch.env["HOME"] == HOME


@EVERY
def test_what_a_launch_needs_of_the_arms_assets_is_said_before(make: Callable[[], Agent]) -> None:
    agent = make()
    launch = agent.launch(a_request())
    words = "\0".join(
        [*launch.argv, *(body.decode() for body in launch.home_files.values()), *launch.home_links.values()]
    )
    assert {*launch.asset_views.values(), *re.findall(r"/cell/assets/([a-z0-9-]+)", words)} == set(agent.assets)


@EVERY
def test_normalised_options_are_json_and_make_the_same_agent(make: Callable[[], Agent]) -> None:
    agent = make()
    again = type(agent)(agent.options)  # type: ignore[call-arg]  # plug-ins are built from their options
    canonical_json(agent.options)
    assert (again.options, again.version) == (agent.options, agent.version)
    assert again.launch(a_request()) == agent.launch(a_request())


OFFERS: dict[Callable[[dict[str, Any]], Agent], set[str]] = {
    AiderAgent: set(),
    ClaudeCodeAgent: {"effort", "most_turns", "allowed_tools", "denied_tools", "skills", "plugins", "mcp"},
    CodexAgent: {"effort", "skills", "mcp"},
    GeminiCliAgent: {"most_turns", "denied_tools", "skills"},
    MiniSweAgent: {"most_turns"},
    OpencodeAgent: {"denied_tools", "skills", "mcp"},
    QwenCodeAgent: {"most_turns", "denied_tools", "skills", "mcp"},
    StandInAgent: {"most_turns", "denied_tools"},
}
"""What an arm may choose of what the first of them has; all of them have a model."""


@pytest.mark.parametrize("kind", OFFERS)
@pytest.mark.parametrize("option", sorted({*OFFERS[ClaudeCodeAgent], "unheard_of"}))
def test_an_option_that_an_agent_does_not_have_is_one_clear_error(
    kind: Callable[[dict[str, Any]], Agent], option: str
) -> None:
    with pytest.raises(SpecError) as caught:
        kind({"model": "m-1", option: {"wrong": 1}})
    assert re.match(rf"the agent '[a-z-]+', {option}(\.wrong)?: ", str(caught.value))
    assert ("there is no such option" in str(caught.value)) == (option not in OFFERS[kind])


@pytest.mark.parametrize(
    ("kind", "options"), [(ScriptedAgent, {"scripts": {"*": []}}), (CommandAgent, {"argv": ["cli"]})]
)
def test_an_unknown_option_is_a_spec_error(kind: Callable[[dict[str, Any]], Agent], options: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="unheard_of: there is no such option"):
        kind({**options, "unheard_of": 1})


@pytest.mark.parametrize(
    ("kind", "name", "progress"),
    [
        ("claude-code", "claude.success", SessionProgress(2, 1, "All done: hello.txt written.")),
        ("codex", "codex.success", SessionProgress(None, 1, "All done: hello.txt written.")),
        ("opencode", "opencode.success-chat", SessionProgress(2, 1, "All done.")),
        ("gemini-cli", "gemini.success", SessionProgress(None, 1, "written.")),
        ("qwen-code", "qwen.success-openai", SessionProgress(None, 1, "All done: hello.txt written.")),
    ],
)
def test_how_far_a_session_is_can_be_seen_before_its_end(kind: str, name: str, progress: SessionProgress) -> None:
    parser = AGENTS[kind]().parser("work")
    assert isinstance(parser, Narrating)
    assert parser.progress().last == ""
    parser.feed(Stream.STDOUT, (DATA / f"{name}.jsonl").read_bytes().partition(b"\n")[2])
    assert parser.progress() == progress
