"""What mini-swe-agent's trajectories are read as: those recorded of the real program, and what must be refused."""

import json
from decimal import Decimal

import pytest

from farm.model import ExitKind, ProcessExit, Usage
from tests.builders.worker.recorded import exited, heard, played
from worker.agents.mini_swe_agent import MiniSweAgent

AGENT = MiniSweAgent({"model": "farm-x"})
STOPPED = ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)


def message(**more):
    return {"role": "assistant", "content": None, "extra": {}, **more}


def a_trajectory(*messages, status="Submitted", submission="done\n", **more):
    info = {"exit_status": status, "submission": submission, "model_stats": {"api_calls": 1}}
    document = {"info": info, "messages": list(messages), "trajectory_format": "mini-swe-agent-1.1", **more}
    return json.dumps(document).encode()


def answered(usage, cost=0.0):
    return message(extra={"response": {"model": "m", "usage": usage}, "cost": cost})


def test_a_success_on_the_anthropic_wire_knows_its_cost() -> None:
    report = played(AGENT, "mini-swe-agent.success-anthropic")
    assert (report.reason, report.problem, report.final_answer) == ("success", None, "All done.")
    assert (report.turns, report.tool_calls, report.model) == (2, {"bash": 2}, "claude-sonnet-4-5")
    assert report.usage == Usage(
        input_tokens=93510, cached_input_tokens=89000, cache_write_tokens=1500, output_tokens=150, thinking_tokens=0
    )
    assert report.cost_usd == Decimal("0.043605")


def test_a_price_that_it_does_not_know_is_no_cost_of_nothing() -> None:
    report = played(AGENT, "mini-swe-agent.success-chat")
    assert (report.reason, report.cost_usd) == ("success", None)
    assert report.usage == Usage(
        input_tokens=93510, cached_input_tokens=89000, cache_write_tokens=None, output_tokens=150, thinking_tokens=45
    )


def test_fact_41_a_session_that_reached_its_cap_exits_with_0_and_is_no_success() -> None:
    report = played(AGENT, "mini-swe-agent.limits")
    assert report.exit.is_zero
    assert (report.reason, report.turns, report.final_answer) == ("LimitsExceeded", 2, None)
    assert report.problem == "the agent says that it failed: LimitsExceeded"


def test_fact_42_a_signal_leaves_no_trajectory() -> None:
    assert played(AGENT, "mini-swe-agent.sigterm").reason == "crashed"
    stopped = played(AGENT, "mini-swe-agent.sigterm", STOPPED)
    assert (stopped.reason, stopped.usage, stopped.turns, stopped.tool_calls) == ("stopped", None, None, None)


@pytest.mark.parametrize(
    ("name", "reason", "says"),
    [
        ("http401", "AuthenticationError", "the script says so"),
        ("http429", "RateLimitError", "the script says so"),
        ("http529", "InternalServerError", "overloaded_error"),
        ("connrefused", "InternalServerError", "Connection error"),
        ("malformed", "InternalServerError", "Unterminated string"),
    ],
)
def test_a_failure_has_the_word_and_the_sentence_of_the_cli(name: str, reason: str, says: str) -> None:
    report = played(AGENT, f"mini-swe-agent.{name}")
    assert (report.reason, report.usage, report.cost_usd) == (reason, None, None)
    assert says in (report.problem or "")


@pytest.mark.parametrize(
    ("submission", "words", "answer"),
    [("done\n", "I think so.", "done"), ("", "I think so.", "I think so."), (" \n", None, "Submitted")],
)
def test_it_answers_by_what_it_submits_or_by_its_last_words(submission, words, answer) -> None:
    stream = a_trajectory(message(content="First."), message(content=words or "First."), submission=submission)
    if words is None:
        stream = a_trajectory(message(), submission=submission)
    assert heard(AGENT, stream).final_answer == answer


def test_usage_of_one_response_that_states_none_makes_the_sum_unknown() -> None:
    stream = a_trajectory(answered({"prompt_tokens": 10, "completion_tokens": 2}), answered(None))
    assert heard(AGENT, stream).usage == Usage()


def test_the_library_states_the_same_tokens_twice_and_they_count_once() -> None:
    details = {"cached_tokens": 3, "cache_creation_tokens": 2, "cache_write_tokens": 2}
    usage = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": details}
    more = {"cache_creation_input_tokens": 2, "cache_read_input_tokens": 3}
    report = heard(AGENT, a_trajectory(answered({**usage, **more})))
    assert report.usage == Usage(input_tokens=10, cached_input_tokens=3, cache_write_tokens=2, output_tokens=4)


@pytest.mark.parametrize(
    ("stdout", "says"),
    [
        (b"Building agent config", "Expecting value"),
        (b"{}", "not of the format mini-swe-agent-1.1"),
        (a_trajectory(trajectory_format="mini-swe-agent-2"), "not of the format mini-swe-agent-1.1"),
        (a_trajectory("…(7 items)"), "one of its messages is no object"),
        (a_trajectory(messages=None), "no exit_status, or no messages"),
        (a_trajectory(status=None), "no exit_status, or no messages"),
        (a_trajectory(message(tool_calls=[{"function": {}}])), "a tool call without a name"),
        (a_trajectory() * 2, "Extra data"),
        (b" " * (8 << 20) + a_trajectory(), "longer than 8388608 bytes"),
    ],
)
def test_what_is_no_trajectory_is_a_fault_of_the_stream(stdout: bytes, says: str) -> None:
    report = heard(AGENT, stdout)
    assert (report.reason, report.final_answer) == ("stream_invalid", None)
    assert says in (report.problem or "")


def test_an_exit_without_a_trajectory_is_explained_by_its_last_words() -> None:
    assert heard(AGENT, b"").reason == "no_terminal"
    crash = heard(AGENT, b"", exited(1), stderr=b"ModuleNotFoundError: No module named 'minisweagent'\n")
    assert (crash.reason, "No module named" in (crash.problem or "")) == ("crashed", True)
