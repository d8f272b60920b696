"""What aider's output is read as."""

from farm.model import ExitKind, ProcessExit
from tests.builders.worker.recorded import exited, heard, played
from worker.agents.aider import AiderAgent

AGENT = AiderAgent({"model": "farm-x"})
REPLY = b"Aider v0.86.2\nRepo-map: disabled\n\nAll done.\n\nTokens: 48k sent, 120 received.\n"
FAILED = b"litellm.RateLimitError: RateLimitError: OpenAIException - slowly\nRetrying in 0.2 seconds...\n"


def test_a_success_is_a_reply_that_its_line_of_tokens_follows() -> None:
    report = played(AGENT, "aider.success-anthropic")
    assert (report.reason, report.problem) == ("success", None)
    assert (report.final_answer or "").startswith("hello.txt\n```\n<<<<<<< SEARCH")
    assert "Tokens:" not in (report.final_answer or "")
    assert (report.usage, report.cost_usd, report.turns, report.tool_calls) == (None, None, None, None)


def test_fact_43_a_refused_key_exits_with_0_and_is_no_success() -> None:
    report = played(AGENT, "aider.http401")
    assert report.exit.is_zero
    assert (report.reason, report.final_answer) == ("AuthenticationError", None)
    assert "the script says so" in (report.problem or "")


def test_a_failure_that_it_got_over_is_none_and_a_last_one_is() -> None:
    assert heard(AGENT, FAILED + REPLY).reason == "success"
    assert heard(AGENT, REPLY + FAILED).reason == "RateLimitError"


def test_an_output_without_a_reply_is_no_end() -> None:
    assert heard(AGENT, b"Aider v0.86.2\n").reason == "no_terminal"
    crash = heard(AGENT, b"", exited(1), stderr=b"No module named aider")
    assert (crash.problem or "").endswith("without a terminal event: No module named aider")
    stopped = ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)
    assert heard(AGENT, FAILED, stopped).reason == "stopped"


def test_an_output_above_eight_mebibytes_is_a_fault() -> None:
    report = heard(AGENT, b"x" * (8 << 20) + REPLY)
    assert report.problem == "standard output is longer than 8388608 bytes"
