"""What holds for every real agent, in a real sandbox, at the door of a real gateway before the scripted provider."""

import socket
from collections.abc import Callable
from decimal import Decimal

import pytest

from farm.model import ExitKind, RequestEnd, TokenUse
from tests.builders.worker.live import REAL_KEY, Stage
from tests.services.provider import serving
from worker.agents.claude_code import ClaudeCodeAgent
from worker.agents.codex import CodexAgent
from worker.provider.record import digest_of_key
from worker.session import DOOR_KEY, Agent

AGENTS: dict[str, Callable[..., Agent]] = {
    "claude-code": lambda **options: ClaudeCodeAgent({"model": "claude-opus-5-5", **options}),
    "codex": lambda **options: CodexAgent({"model": "gpt-6.2-sol", **options}),
}
EVERY = pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS.keys())

FIRST = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
SECOND = {"ordinary_input": 10, "cache_read": 45000, "cache_write": 500, "output": 30, "reasoning": 5}
WRITES = {"write": {"path": "hello.txt", "text": "hello from the script\n"}}
SHOWS = {"run": {"command": "env"}}
SCRIPT = {
    "rules": [
        {
            "turns": [
                {"text": "I shall write it.", "tools": [WRITES], "usage": FIRST},
                {"answer": "All done.", "usage": SECOND},
            ]
        }
    ]
}


def failing(**reply: object) -> dict[str, object]:
    return {"rules": [{"reply": reply}]}


@EVERY
def test_a_session_does_its_work_and_three_count_the_same_tokens(make: Callable[..., Agent], stage: Stage) -> None:
    with serving(SCRIPT) as provider:
        lived = stage.play(make(), provider.url)
    report, door = lived.report, lived.door
    assert (report.problem, report.reason, report.final_answer) == (None, "success", "All done.")
    assert lived.files == {"hello.txt": b"hello from the script\n"}
    assert sum((report.tool_calls or {}).values()) == 1
    assert door.ends == {RequestEnd.ANSWERED: 2}
    assert door.tokens == TokenUse(
        whole=93510,
        ordinary_input=3010,
        cache_read=89000,
        cache_write=1500,
        cache_write_1h=door.tokens.cache_write_1h,
        output=150,
        reasoning=door.tokens.reasoning,
    )
    assert report.usage is not None
    assert (report.usage.cached_input_tokens, report.usage.cache_write_tokens, report.usage.output_tokens) == (
        89000,
        1500,
        150,
    )
    assert report.cost_usd in (Decimal("0.04034"), None)
    assert [request.status for request in provider.requests] == [200, 200]
    assert lived.survivors == []


@EVERY
def test_instructions_of_the_arm_reach_the_model_beside_the_agents_own(
    make: Callable[..., Agent], stage: Stage
) -> None:
    rules = [{"when": {"instructions": "Speak of walruses."}, "reply": {"answer": "Walrus."}}]
    if make is AGENTS["codex"]:  # it tells them in the user's name, as it does what AGENTS.md says
        rules = [{"when": {"prompt": ["Speak of walruses.", "Write hello.txt."]}, "reply": {"answer": "Walrus."}}]
    with serving({"rules": rules}) as provider:
        lived = stage.play(make(), provider.url, instructions="Speak of walruses.")
    assert lived.report.final_answer == "Walrus."


@EVERY
def test_the_workspace_speaks_to_the_agent_unless_the_arm_says_no(make: Callable[..., Agent], stage: Stage) -> None:
    workspace = {"CLAUDE.md": "Speak of walruses.", "AGENTS.md": "Speak of walruses."}
    rules = [
        {"when": {"prompt": "Speak of walruses."}, "reply": {"answer": "Walrus."}},
        {"when": {"instructions": "Speak of walruses."}, "reply": {"answer": "Walrus."}},
        {"reply": {"answer": "Of what?"}},
    ]
    with serving({"rules": rules}) as provider:
        heard = stage.play(make(), provider.url, workspace=workspace)
        deaf = stage.play(make(project=False), provider.url, workspace=workspace)
    assert (heard.report.final_answer, deaf.report.final_answer) == ("Walrus.", "Of what?")


@EVERY
def test_its_tools_see_a_key_that_is_worth_nothing_and_the_provider_the_real_one(
    make: Callable[..., Agent], stage: Stage
) -> None:
    script = {"rules": [{"turns": [{"tools": [SHOWS]}, {"answer": "Shown."}]}], "default_usage": FIRST}
    with serving(script) as provider:
        lived = stage.play(make(), provider.url)
    assert DOOR_KEY.encode() in lived.stdout
    assert REAL_KEY.encode() not in lived.stdout
    keys = {request.headers.get("x-api-key") or request.headers.get("authorization") for request in provider.requests}
    assert {(key or "").removeprefix("Bearer ") for key in keys} == {digest_of_key(REAL_KEY)}


@EVERY
def test_a_refused_key_ends_within_ten_seconds(make: Callable[..., Agent], stage: Stage) -> None:
    with serving(failing(error={"status": 401})) as provider:
        lived = stage.play(make(), provider.url)
    assert lived.report.reason in {"authentication_error", "turn_failed"}
    assert "401" in (lived.report.problem or "")
    assert lived.report.exit.wall_s < 10
    assert lived.door.ends == {RequestEnd.DENIED: len(provider.requests)}
    assert lived.report.final_answer is None


@EVERY
@pytest.mark.parametrize(
    ("status", "end"), [(429, RequestEnd.RATE_LIMITED), (529, RequestEnd.UNAVAILABLE), (500, RequestEnd.UNAVAILABLE)]
)
def test_pressure_of_the_provider_ends_the_session_after_few_requests(
    make: Callable[..., Agent], stage: Stage, status: int, end: RequestEnd
) -> None:
    with serving(failing(error={"status": status})) as provider:
        lived = stage.play(make(), provider.url)
    assert lived.report.problem is not None
    assert lived.report.exit.code == 1
    assert lived.door.last_failure == end
    assert lived.door.ends == {end: len(provider.requests)}
    assert 1 <= len(provider.requests) <= 4
    assert lived.report.exit.wall_s < 20


@EVERY
def test_a_rate_limit_in_the_middle_keeps_what_the_door_metered_before_it(
    make: Callable[..., Agent], stage: Stage
) -> None:
    rules = [
        {"when": {"turn": 0}, "reply": {"tools": [WRITES], "usage": FIRST}},
        {"reply": {"error": {"status": 429}}},
    ]
    with serving({"rules": rules}) as provider:
        lived = stage.play(make(), provider.url)
    assert lived.report.problem is not None
    assert "hello.txt" in lived.files
    assert (lived.door.ends[RequestEnd.ANSWERED], lived.door.tokens.output) == (1, 120)
    assert lived.door.last_failure == RequestEnd.RATE_LIMITED


@EVERY
def test_a_provider_that_refuses_connections_is_not_waited_for(make: Callable[..., Agent], stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    lived = stage.play(make(), url)
    assert lived.report.problem is not None
    assert lived.door.last_failure == RequestEnd.UNAVAILABLE
    assert lived.report.exit.wall_s < 20


@EVERY
def test_fact_23_where_nobody_listens_at_all_the_session_ends_by_itself(
    make: Callable[..., Agent], stage: Stage
) -> None:
    lived = stage.play(make(), None)
    assert lived.report.exit.kind is ExitKind.EXITED
    assert lived.report.problem is not None
    assert lived.report.exit.wall_s < 10


@EVERY
@pytest.mark.parametrize("malformed", ["json", "cut", "error"])
def test_a_stream_that_breaks_once_is_asked_for_again(make: Callable[..., Agent], stage: Stage, malformed: str) -> None:
    rules = [
        {"times": 1, "reply": {"text": "I shall wri", "malformed": malformed, "usage": FIRST}},
        {"reply": {"answer": "All done.", "usage": SECOND}},
    ]
    with serving({"rules": rules}) as provider:
        lived = stage.play(make(), provider.url)
    assert (lived.report.problem, lived.report.final_answer) == (None, "All done.")
    assert lived.door.ends[RequestEnd.ANSWERED] >= 1
    assert sum(lived.door.ends.values()) == len(provider.requests) >= 2


@EVERY
def test_a_stop_in_the_middle_of_a_stream_ends_it_at_once(make: Callable[..., Agent], stage: Stage) -> None:
    script = failing(text="I shall think about it for long.", stall={"at": "stream"})
    with serving(script) as provider:
        lived = stage.play(make(), provider.url, stop=lambda _workspace, _said: bool(provider.requests))
    report = lived.report
    assert (report.exit.kind, report.reason) == (ExitKind.STOPPED, "stopped")
    assert (report.usage, report.tool_calls, report.final_answer) == (None, None, None)
    assert lived.survivors == []


@EVERY
def test_a_stop_in_the_middle_of_a_tool_leaves_no_process(make: Callable[..., Agent], stage: Stage) -> None:
    command = "setsid sleep 300 & touch started; sleep 299; true"
    script = {"rules": [{"turns": [{"tools": [{"run": {"command": command}}]}, {"answer": "?"}]}]}
    with serving(script) as provider:
        lived = stage.play(make(), provider.url, stop=lambda workspace, _said: (workspace / "started").exists())
    assert lived.report.exit.kind is ExitKind.STOPPED
    assert len(lived.seen) > 2
    assert lived.survivors == []


@EVERY
def test_what_a_session_leaves_running_ends_with_it(make: Callable[..., Agent], stage: Stage) -> None:
    command = "setsid sleep 300 >/dev/null 2>&1 </dev/null & echo left"
    script = {"rules": [{"turns": [{"tools": [{"run": {"command": command}}]}, {"answer": "Left."}]}]}
    with serving({**script, "default_usage": FIRST}) as provider:
        lived = stage.play(make(), provider.url)
    assert lived.report.final_answer == "Left."
    assert lived.survivors == []
