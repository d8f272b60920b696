"""What OpenCode's streams are read as: those recorded of the real program, and what must be refused."""

import pytest

from farm.model import ExitKind, ProcessExit, Usage
from tests.builders.worker.recorded import exited, heard, lines, played
from worker.agents.opencode import OpencodeAgent

STOPPED = ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)
START = {"type": "step_start", "sessionID": "ses_1", "part": {}}
SAID = {"type": "text", "part": {"text": "Done."}}
TOKENS = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}


def an_agent(**options):
    return OpencodeAgent({"model": "m1", **options})


def finish(reason="stop", tokens=TOKENS):
    return {"type": "step_finish", "part": {"reason": reason, "tokens": tokens, "cost": 0}}


def tool(name="bash", call="c1", **state):
    return {"type": "tool_use", "part": {"tool": name, "callID": call, "state": {"status": "completed", **state}}}


@pytest.mark.parametrize(
    ("name", "fresh", "written", "thought"),
    [("anthropic", 3010, 1500, 0), ("responses", 3010, 1500, 45), ("chat", 4510, 0, 45)],
)
def test_fact_33_its_output_and_what_it_thought_are_the_providers_output(
    name: str, fresh: int, written: int, thought: int
) -> None:
    report = played(an_agent(), f"opencode.success-{name}")
    assert (report.reason, report.problem, report.final_answer) == ("success", None, "All done.")
    assert (report.turns, report.tool_calls, report.cost_usd) == (2, {"write": 1}, None)
    assert report.usage == Usage(
        input_tokens=fresh,
        cached_input_tokens=89000,
        cache_write_tokens=written,
        output_tokens=150,
        thinking_tokens=thought,
    )
    assert (report.session_id or "").startswith("ses_")


def test_fact_29_a_session_that_ends_with_a_refused_tool_exits_with_0_and_is_no_success() -> None:
    stream = lines(START, tool(status="error", error="The user rejected permission to use this."), finish("tool-calls"))
    report = heard(an_agent(), stream)
    assert (report.reason, report.final_answer) == ("permission_denied", None)
    assert "it was denied bash" in (report.problem or "")


def test_fact_29_a_last_step_that_wants_the_answer_of_a_tool_is_no_end() -> None:
    assert heard(an_agent(), lines(START, SAID, tool(), finish("tool-calls"))).reason == "no_terminal"


def test_fact_30_a_session_that_says_nothing_until_its_limit_has_no_totals() -> None:
    wall = ProcessExit(kind=ExitKind.LIMIT, limit="wall", wall_s=100.0)
    report = heard(an_agent(), b"", wall)
    assert (report.reason, report.usage, report.tool_calls) == ("wall_limit", None, None)


def test_a_refused_key_has_the_word_and_the_sentence_of_the_cli() -> None:
    report = played(an_agent(), "opencode.http401")
    assert (report.reason, report.final_answer) == ("APIError", None)
    assert report.problem == "the agent says that it failed: APIError: the script says so"


def test_fact_32_a_signal_in_the_middle_of_a_tool_is_a_crash_or_our_stop() -> None:
    stream = lines(START, SAID)
    assert heard(an_agent(), stream, exited(-15)).reason == "crashed"
    stopped = heard(an_agent(), stream, STOPPED)
    assert (stopped.reason, stopped.usage) == ("stopped", None)


@pytest.mark.parametrize("reason", ["length", "content-filter", "other"])
def test_another_reason_of_the_last_step_is_its_word_for_a_failure(reason: str) -> None:
    report = heard(an_agent(), lines(START, SAID, finish(reason)))
    assert (report.reason, report.final_answer) == (reason, None)


def test_only_the_last_steps_words_are_the_answer() -> None:
    first = {"type": "text", "part": {"text": "I shall."}}
    report = heard(an_agent(), lines(START, first, tool(), finish("tool-calls"), START, SAID, SAID, finish()))
    assert (report.final_answer, report.turns) == ("Done.\nDone.", 2)
    assert report.usage == Usage(
        input_tokens=2, cached_input_tokens=8, cache_write_tokens=10, output_tokens=10, thinking_tokens=6
    )


def test_a_step_without_tokens_makes_the_sum_unknown() -> None:
    report = heard(an_agent(), lines(START, SAID, finish(tokens=None)))
    assert report.usage == Usage()


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"type": "surprise"}, "an event of the unknown type 'surprise'"),
        ({"type": "tool_use", "part": {}}, "a tool call without a name"),
        ({"type": "tool_use", "part": {"tool": "bash"}}, "a tool call without a state"),
        ({"type": "text", "part": {"text": "x" * (8 << 20)}}, "line 2 is longer than 8388608 bytes"),
    ],
)
def test_what_is_no_event_of_its_stream_is_a_fault(event: dict, says: str) -> None:
    report = heard(an_agent(), lines(START, event, SAID, finish()))
    assert (report.reason, report.problem) == ("stream_invalid", says)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (tool("skill", input={"name": "greet"}), "success"),
        (tool("skill", status="error", error="no", input={"name": "greet"}), "skill-not-invoked"),
        (tool("skill", input={"name": "regreet"}), "skill-not-invoked"),
        (tool("bash", input={"name": "greet"}), "skill-not-invoked"),
    ],
)
def test_a_skill_is_proven_by_its_tool(event: dict, reason: str) -> None:
    assert heard(an_agent(required_skill="greet"), lines(START, event, SAID, finish())).reason == reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("malformed-sse", "UnknownError"),
        ("permission-rejected", "permission_denied"),
        ("sse-error-event", "crashed"),
        ("sigterm-mid-tool", "crashed"),
    ],
)
def test_other_recorded_failures_have_their_reason(name: str, reason: str) -> None:
    report = played(an_agent(), f"opencode.{name}")
    assert (report.reason, report.final_answer) == (reason, None)


@pytest.mark.parametrize(("log", "reason"), [("key=kit type=local", "stream_invalid"), ("key=kit-2 type", "success")])
def test_a_server_of_the_arm_that_did_not_start_is_told_by_its_log_alone(log: str, reason: str) -> None:
    said = f'level=WARN run=1 message="server unavailable" {log} status=failed\n'.encode()
    agent = an_agent(mcp={"kit": {"asset": "kit", "argv": ["{asset}/server"]}})
    assert heard(agent, lines(START, SAID, finish()), stderr=said).reason == reason
