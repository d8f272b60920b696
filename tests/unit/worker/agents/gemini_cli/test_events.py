"""What Gemini CLI's streams are read as: those recorded of the real program, and what must be refused."""

import pytest

from farm.model import ExitKind, ProcessExit, Usage
from tests.builders.worker.recorded import exited, heard, lines, played
from worker.agents.gemini_cli import GeminiCliAgent

AGENT = GeminiCliAgent({"model": "gemini-2.5-pro"})
STOPPED = ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)
INIT = {"type": "init", "session_id": "s", "model": "m"}
SAID = {"type": "message", "role": "assistant", "content": "Done.", "delta": True}
DONE = {"type": "result", "status": "success", "stats": {"total_tokens": 10, "input_tokens": 7, "output_tokens": 1}}


def failed(kind="unknown"):
    return {"type": "result", "status": "error", "error": {"type": kind, "message": "no"}, "stats": {"total_tokens": 0}}


def test_facts_36_and_37_its_output_is_what_is_not_input_whichever_model_it_is_kept_under() -> None:
    report = played(AGENT, "gemini.success")
    assert (report.reason, report.problem, report.final_answer) == ("success", None, "All done: hello.txt written.")
    assert report.usage == Usage(
        input_tokens=93510, cached_input_tokens=89000, cache_write_tokens=None, output_tokens=150, thinking_tokens=45
    )
    assert (report.tool_calls, report.turns, report.cost_usd) == ({"write_file": 1}, None, None)
    assert (report.model, len(report.session_id or "")) == ("gemini-2.5-pro", 36)


@pytest.mark.parametrize(("name", "status"), [("http401", 401), ("http429", 429), ("http503", 503)])
def test_fact_34_its_exit_code_tells_the_providers_status(name: str, status: int) -> None:
    report = played(AGENT, f"gemini.{name}")
    assert (report.exit.code, report.reason) == (status % 256, f"http_{status}")
    assert (report.usage, report.final_answer) == (None, None)


def test_fact_35_an_exit_of_0_without_a_result_is_no_success() -> None:
    report = played(AGENT, "gemini.sigterm")
    assert report.exit.is_zero
    assert report.reason == "no_terminal"
    assert played(AGENT, "gemini.sigterm", STOPPED).reason == "stopped"


def test_a_turn_cap_has_its_word_and_the_usage_up_to_it() -> None:
    report = played(AGENT, "gemini.maxturns")
    assert (report.reason, report.final_answer) == ("FatalTurnLimitedError", None)
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.output_tokens) == (93510, 150)


def test_a_failure_without_a_word_has_the_sentence_of_the_cli() -> None:
    report = played(AGENT, "gemini.malformed-sse")
    assert (report.reason, "Unterminated string" in (report.problem or "")) == ("error_flag", True)


def test_words_before_a_tool_are_no_part_of_the_answer() -> None:
    tool = {"type": "tool_use", "tool_name": "t", "parameters": {}}
    assert heard(AGENT, lines(INIT, SAID, tool, SAID, SAID, DONE)).final_answer == "Done.Done."


def test_what_is_said_to_the_model_is_no_answer() -> None:
    user = {"type": "message", "role": "user", "content": "Fix it."}
    assert heard(AGENT, lines(INIT, user, DONE)).reason == "blank_answer"


def test_a_warning_is_no_end_and_explains_one() -> None:
    warning = {"type": "error", "severity": "warning", "message": "Loop detected"}
    assert heard(AGENT, lines(INIT, warning, SAID, DONE)).reason == "success"
    crash = heard(AGENT, lines(INIT, warning), exited(1))
    assert (crash.problem or "").endswith("without a terminal event: Loop detected")


def test_a_failure_with_a_code_that_is_no_status_is_a_failure_all_the_same() -> None:
    assert heard(AGENT, lines(INIT, failed()), exited(1)).reason == "error_flag"
    assert (
        heard(AGENT, lines(INIT, failed("FatalAuthenticationError")), exited(41)).reason == "FatalAuthenticationError"
    )


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (({"type": "surprise"}, DONE), "an event of the unknown type 'surprise'"),
        (({"type": "tool_use"}, DONE), "a tool call without a name"),
        ((DONE, SAID), "an event of the type 'message' after the result"),
        (({"type": "message", "content": "x" * (8 << 20)}, DONE), "line 2 is longer than 8388608 bytes"),
    ],
)
def test_what_is_no_event_of_its_stream_is_a_fault(events: tuple, says: str) -> None:
    report = heard(AGENT, lines(INIT, *events))
    assert (report.reason, report.problem) == ("stream_invalid", says)


def test_two_results_are_no_result() -> None:
    assert heard(AGENT, lines(INIT, SAID, DONE, DONE)).reason == "two_terminals"


@pytest.mark.parametrize(
    ("called", "status", "reason"),
    [
        ("greet", "success", "success"),
        ("greet", "error", "skill-not-invoked"),
        ("regreet", "success", "skill-not-invoked"),
    ],
)
def test_a_skill_is_proven_by_its_tool_and_the_answer(called: str, status: str, reason: str) -> None:
    call = {"type": "tool_use", "tool_name": "activate_skill", "tool_id": "1", "parameters": {"name": called}}
    answer = {"type": "tool_result", "tool_id": "1", "status": status}
    agent = GeminiCliAgent({"model": "m", "required_skill": "greet"})
    assert heard(agent, lines(INIT, call, answer, SAID, DONE)).reason == reason
    assert heard(agent, lines(INIT, SAID, DONE)).reason == "skill-not-invoked"
