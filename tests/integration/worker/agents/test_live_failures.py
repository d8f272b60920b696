"""How the other real agents fail, live: those of their failures that take seconds. All others are recorded."""

import socket
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from farm.model import ExitKind, RequestEnd
from tests.builders.worker.live import Lived, Stage
from tests.services.provider import serving
from worker.agents.aider import AiderAgent
from worker.agents.gemini_cli import GeminiCliAgent
from worker.agents.opencode import OpencodeAgent
from worker.agents.qwen_code import QwenCodeAgent
from worker.agents.stand_in import StandInAgent
from worker.session import Agent

AGENTS: dict[str, Callable[..., Agent]] = {
    "aider": lambda **options: AiderAgent({"model": "m-1", **options}),
    "gemini-cli": lambda **options: GeminiCliAgent({"model": "gemini-2.5-pro", **options}),
    "opencode": lambda **options: OpencodeAgent({"model": "m-1", **options}),
    "qwen-code": lambda **options: QwenCodeAgent({"model": "m-1", **options}),
    "stand-in": lambda **options: StandInAgent({"model": "m-1", **options}),
}
ONCE = {"gemini-cli": {"retries": 0}}
"""Options that keep a failure short."""
DENIED, LIMITED, DOWN = RequestEnd.DENIED, RequestEnd.RATE_LIMITED, RequestEnd.UNAVAILABLE


def always(**reply: object) -> Mapping[str, Any]:
    return {"rules": [{"reply": reply}], "default_usage": {"ordinary_input": 10, "output": 3}}


def failed(stage: Stage, kind: str, script: Mapping[str, Any]) -> Lived:
    with serving(script) as provider:
        return stage.play(AGENTS[kind](**ONCE.get(kind, {})), provider.url)


@pytest.mark.parametrize(
    ("kind", "status", "reason", "end"),
    [
        ("gemini-cli", 401, "http_401", DENIED),
        ("gemini-cli", 429, "http_429", LIMITED),
        ("gemini-cli", 529, "http_529", DOWN),
        ("opencode", 401, "APIError", DENIED),
        ("qwen-code", 401, "error_during_execution", DENIED),
        ("stand-in", 401, "error_provider", DENIED),
        ("stand-in", 429, "error_provider", LIMITED),
        ("stand-in", 529, "error_provider", DOWN),
    ],
)
def test_a_provider_that_turns_it_away_ends_the_session(
    stage: Stage, kind: str, status: int, reason: str, end: RequestEnd
) -> None:
    lived = failed(stage, kind, always(error={"status": status}))
    assert (lived.report.reason, lived.report.final_answer, lived.door.ends) == (reason, None, {end: 1})
    assert lived.survivors == []


def test_opencode_obeys_a_provider_that_says_how_long_to_wait_and_gives_up_after_six_requests(stage: Stage) -> None:
    lived = failed(stage, "opencode", always(error={"status": 429, "retry_after_s": 0.1}))
    assert (lived.report.reason, lived.door.ends) == ("APIError", {LIMITED: 6})


@pytest.mark.parametrize(("kind", "reason"), [("gemini-cli", "http_502"), ("stand-in", "error_provider")])
def test_a_provider_that_refuses_connections_is_not_waited_for(stage: Stage, kind: str, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    lived = stage.play(AGENTS[kind](**ONCE.get(kind, {})), url)
    assert (lived.report.reason, lived.door.ends) == (reason, {DOWN: 1})


@pytest.mark.parametrize(
    ("kind", "malformed", "reason", "end"),
    [
        ("gemini-cli", "json", "error_flag", RequestEnd.MALFORMED),
        ("opencode", "error", "UnknownError", DOWN),
        ("qwen-code", "json", "error_during_execution", RequestEnd.MALFORMED),
        ("stand-in", "json", "error_provider", RequestEnd.MALFORMED),
    ],
)
def test_a_stream_that_breaks_is_no_answer(
    stage: Stage, kind: str, malformed: str, reason: str, end: RequestEnd
) -> None:
    lived = failed(stage, kind, always(text="I shall wri", malformed=malformed))
    assert (lived.report.reason, lived.report.final_answer, lived.door.ends) == (reason, None, {end: 1})


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("gemini-cli", "FatalTurnLimitedError"),
        ("qwen-code", "max_session_turns"),
        ("stand-in", "error_max_turns"),
    ],
)
def test_a_turn_cap_ends_the_session_after_so_many_requests(stage: Stage, kind: str, reason: str) -> None:
    with serving(always(tools=[{"run": {"command": "true"}}])) as provider:
        lived = stage.play(AGENTS[kind](most_turns=2), provider.url)
    assert (lived.report.reason, lived.door.ends) == (reason, {RequestEnd.ANSWERED: 2})


@pytest.mark.parametrize("kind", AGENTS)
def test_a_stop_in_the_middle_of_a_stream_ends_it_at_once(stage: Stage, kind: str) -> None:
    with serving(always(text="I shall think about it for long.", stall={"at": "stream"})) as provider:
        lived = stage.play(AGENTS[kind](), provider.url, stop=lambda _workspace, _said: bool(provider.requests))
    report = lived.report
    assert (report.exit.kind, report.reason) == (ExitKind.STOPPED, "stopped")
    assert (report.usage, report.tool_calls, report.turns, report.final_answer) == (None, None, None, None)
    assert lived.door.ends == {RequestEnd.CLIENT_GONE: 1}
    assert len(lived.seen) > 1
    assert lived.survivors == []


@pytest.mark.parametrize("kind", sorted(set(AGENTS) - {"aider"}))  # which runs no commands
def test_a_stop_in_the_middle_of_a_tool_leaves_no_process(stage: Stage, kind: str) -> None:
    command = "setsid sleep 300 & touch started; sleep 299; true"
    with serving(always(tools=[{"run": {"command": command}}])) as provider:
        lived = stage.play(AGENTS[kind](), provider.url, stop=lambda workspace, _said: (workspace / "started").exists())
    assert lived.report.exit.kind is ExitKind.STOPPED
    assert len(lived.seen) > 2
    assert lived.survivors == []
