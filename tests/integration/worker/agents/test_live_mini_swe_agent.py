"""mini-swe-agent, live: in a real sandbox, at the door of a real gateway before the scripted provider."""

import socket

import pytest

from farm.model import ExitKind, RequestEnd, Wire
from tests.builders.worker.live import REAL_KEY, Stage
from tests.services.provider import serving
from worker.agents.mini_swe_agent import MiniSweAgent
from worker.session import DOOR_KEY

FIRST = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
SECOND = {"ordinary_input": 10, "cache_read": 45000, "cache_write": 500, "output": 30, "reasoning": 5}
WRITES = {"write": {"path": "hello.txt", "text": "hello from the script\n"}}
SCRIPT = {"rules": [{"turns": [{"tools": [WRITES], "usage": FIRST}, {"answer": "Done.", "usage": SECOND}]}]}


def an_agent(**options: object) -> MiniSweAgent:
    return MiniSweAgent({"model": "claude-sonnet-4-5", **options})  # type: ignore[dict-item]  # wrong is a SpecError


def failing(**reply: object) -> dict[str, object]:
    return {"rules": [{"reply": reply}]}


@pytest.mark.parametrize("wire", MiniSweAgent.wires)
def test_a_session_does_its_work_and_is_counted_alike_on_either_wire(wire: Wire, stage: Stage) -> None:
    stage.wire = wire
    with serving(SCRIPT) as provider:
        lived = stage.play(an_agent(), provider.url, instructions="Speak of walruses.")
        assert all("Speak of walruses." in asked.line() for asked in provider.requests)
    report, door = lived.report, lived.door
    assert (report.problem, report.final_answer, report.turns) == (None, "Done.", 2)
    assert lived.files == {"hello.txt": b"hello from the script\n"}
    assert door.ends == {RequestEnd.ANSWERED: 2}
    assert (door.tokens.whole, door.tokens.cache_read, door.tokens.output) == (93510, 89000, 150)
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.cached_input_tokens, report.usage.output_tokens) == (
        93510,
        89000,
        150,
    )


def test_a_module_of_the_workspace_is_none_of_its_own_and_its_tool_sees_no_real_key(stage: Stage) -> None:
    script = {"rules": [{"turns": [{"tools": [{"run": {"command": "env > seen"}}]}, {"answer": "Seen."}]}]}
    evil = {"typing.py": "raise SystemExit(9)", "minisweagent/__init__.py": "raise SystemExit(9)"}
    with serving(script) as provider:
        lived = stage.play(an_agent(), provider.url, workspace=evil)
    assert lived.report.final_answer == "Seen."
    assert DOOR_KEY.encode() in lived.files["seen"]
    assert REAL_KEY.encode() not in lived.files["seen"]


@pytest.mark.parametrize(
    ("status", "reason", "end", "requests"),
    [
        (401, "AuthenticationError", RequestEnd.DENIED, 1),
        (429, "RateLimitError", RequestEnd.RATE_LIMITED, 2),
        (529, "APIError", RequestEnd.UNAVAILABLE, 2),
    ],
)
def test_a_provider_that_fails_ends_the_session_after_few_requests(
    stage: Stage, status: int, reason: str, end: RequestEnd, requests: int
) -> None:
    with serving(failing(error={"status": status})) as provider:
        lived = stage.play(an_agent(), provider.url)
    assert (lived.report.reason, lived.door.ends) == (reason, {end: requests})


def test_a_provider_that_refuses_connections_is_not_waited_for(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    lived = stage.play(an_agent(retries=0), url)
    assert lived.report.reason == "BadGatewayError"
    assert lived.door.last_failure == RequestEnd.UNAVAILABLE


def test_an_answer_that_breaks_once_is_asked_for_again(stage: Stage) -> None:
    rules = [{"times": 1, "reply": {"text": "I shall wri", "malformed": "json"}}, {"reply": {"answer": "Done."}}]
    with serving({"rules": rules}) as provider:
        lived = stage.play(an_agent(), provider.url)
    assert (lived.report.problem, lived.report.final_answer) == (None, "Done.")


def test_fact_41_a_turn_cap_ends_the_session_after_so_many_requests(stage: Stage) -> None:
    with serving(failing(tools=[{"run": {"command": "true"}}])) as provider:
        lived = stage.play(an_agent(most_turns=2), provider.url)
    assert (lived.report.reason, lived.report.turns) == ("LimitsExceeded", 2)
    assert lived.door.ends == {RequestEnd.ANSWERED: 2}


def test_fact_42_a_stop_while_the_provider_is_silent_leaves_no_trajectory(stage: Stage) -> None:
    with serving(failing(text="I shall think.", stall={"at": "headers"})) as provider:
        lived = stage.play(an_agent(), provider.url, stop=lambda _workspace, _said: bool(provider.requests))
    assert (lived.report.reason, lived.report.usage, lived.stdout, lived.survivors) == ("stopped", None, b"", [])


def test_a_stop_in_the_middle_of_a_tool_leaves_no_process(stage: Stage) -> None:
    command = "setsid sleep 300 & touch started; sleep 299; true"
    with serving(failing(tools=[{"run": {"command": command}}])) as provider:
        lived = stage.play(an_agent(), provider.url, stop=lambda workspace, _said: (workspace / "started").exists())
    assert lived.report.exit.kind is ExitKind.STOPPED
    assert len(lived.seen) > 2
    assert lived.survivors == []
