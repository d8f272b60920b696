"""What Qwen Code's streams are read as: those recorded of the real program, and what must be refused."""

import pytest

from farm.model import ExitKind, ProcessExit, Usage
from tests.builders.worker.recorded import exited, heard, lines, played
from worker.agents.qwen_code import QwenCodeAgent

AGENT = QwenCodeAgent({"model": "qwen3-x"})
STOPPED = ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)
INIT = {"type": "system", "subtype": "init", "qwen_code_version": "0.24.4", "model": "m", "session_id": "s"}
DONE = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "num_turns": 1}


def said(*blocks):
    return {"type": "assistant", "message": {"content": list(blocks)}}


@pytest.mark.parametrize("name", ["success-openai", "success-anthropic", "success-responses", "success-gemini"])
def test_fact_39_its_input_is_the_whole_and_what_it_wrote_to_the_cache_is_unknown(name: str) -> None:
    report = played(AGENT, f"qwen.{name}")
    assert (report.reason, report.problem) == ("success", None)
    assert (report.final_answer or "").startswith("All done")
    assert report.usage == Usage(input_tokens=93510, cached_input_tokens=89000, output_tokens=150)
    assert (report.turns, sum((report.tool_calls or {}).values()), report.cost_usd) == (2, 1, None)
    assert len(report.session_id or "") == 36


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [("maxturns", 53, "max_session_turns"), ("walltime", 55, "max_tool_calls_or_wall_time")],
)
def test_fact_40_a_cap_is_told_by_the_exit_code_alone(name: str, code: int, reason: str) -> None:
    report = played(AGENT, f"qwen.{name}")
    assert (report.exit.code, report.reason, report.final_answer) == (code, reason, None)
    assert (report.usage, report.turns) == (None, None)


def test_fact_40_a_signal_ends_it_without_a_result() -> None:
    assert played(AGENT, "qwen.sigterm-mid-tool").reason == "crashed"
    stopped = played(AGENT, "qwen.sigterm-mid-tool", STOPPED)
    assert (stopped.reason, stopped.tool_calls) == ("stopped", None)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("http401", "401"),
        ("cut-stream", "other side closed"),
        ("connrefused", "can't be reached"),
        ("malformed-sse", "Unterminated string"),
    ],
)
def test_a_failure_has_the_sentence_of_the_cli_and_no_usage(name: str, says: str) -> None:
    report = played(AGENT, f"qwen.{name}")
    assert (report.reason, report.usage, report.final_answer) == ("error_during_execution", None, None)
    assert says in (report.problem or "")


def test_the_stream_of_another_version_is_a_fault() -> None:
    report = heard(AGENT, lines({**INIT, "qwen_code_version": "0.24.3"}, DONE))
    assert report.problem == "the stream of Qwen Code '0.24.3', where the arm pins 0.24.4"


def test_a_denied_tool_is_no_success() -> None:
    report = heard(AGENT, lines(INIT, {**DONE, "permission_denials": [{"tool_name": "edit"}]}))
    assert report.problem == "the agent wanted tools that it was denied: edit"


def test_a_result_that_says_success_and_error_is_an_error() -> None:
    assert heard(AGENT, lines(INIT, {**DONE, "is_error": True})).reason == "error_flag"


def test_a_retry_is_bookkeeping_and_tools_are_counted_by_name() -> None:
    tool = {"type": "tool_use", "name": "edit", "input": {}}
    retry = {"type": "system", "subtype": "retry"}
    report = heard(AGENT, lines(retry, INIT, said(tool), {"type": "user"}, retry, said(tool), DONE))
    assert (report.reason, report.tool_calls) == ("success", {"edit": 2})


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (({"type": "surprise"}, DONE), "an event of the unknown type 'surprise'"),
        ((said({"type": "tool_use"}), DONE), "a tool call without a name"),
        ((DONE, said()), "an event of the type 'assistant' after the result"),
        ((said({"text": "x" * (8 << 20)}), DONE), "line 2 is longer than 8388608 bytes"),
    ],
)
def test_what_is_no_event_of_its_stream_is_a_fault(events: tuple, says: str) -> None:
    report = heard(AGENT, lines(INIT, *events))
    assert (report.reason, report.problem) == ("stream_invalid", says)


def test_two_results_are_no_result_and_a_crash_is_explained_by_its_last_words() -> None:
    assert heard(AGENT, lines(INIT, DONE, DONE)).reason == "two_terminals"
    crash = heard(AGENT, lines(INIT), exited(1), stderr=b"boom")
    assert (crash.problem or "").endswith("without a terminal event: boom")


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ([{"name": "kit", "status": "connected"}], None),
        ([{"name": "kit", "status": "disconnected"}], "the MCP server 'kit' of the arm is disconnected"),
        ([{"name": "other", "status": "connected"}], "the MCP server 'kit' of the arm is missing"),
        (None, "the MCP server 'kit' of the arm is missing"),
    ],
)
def test_a_server_of_the_arm_that_is_not_there_is_a_fault(listed: object, says: str | None) -> None:
    agent = QwenCodeAgent({"model": "m", "mcp": {"kit": {"asset": "kit", "argv": ["{asset}/server"]}}})
    assert heard(agent, lines({**INIT, "mcp_servers": listed}, DONE)).problem == says


@pytest.mark.parametrize(
    ("called", "is_error", "reason"),
    [
        ("greet", False, "success"),
        ("greet", True, "skill-not-invoked"),
        ("regreet", False, "skill-not-invoked"),
    ],
)
def test_a_skill_is_proven_by_its_tool_and_the_answer(called: str, is_error: bool, reason: str) -> None:
    call = said({"type": "tool_use", "id": "1", "name": "skill", "input": {"skill": called}})
    result = {"type": "tool_result", "tool_use_id": "1", "is_error": is_error}
    answer = {"type": "user", "message": {"content": [result]}}
    agent = QwenCodeAgent({"model": "m", "required_skill": "greet"})
    assert heard(agent, lines(INIT, call, answer, DONE)).reason == reason
    assert heard(agent, lines(INIT, DONE)).reason == "skill-not-invoked"
