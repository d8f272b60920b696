"""What Claude Code's streams are read as: those recorded of the real program, and what must be refused."""

from decimal import Decimal

import pytest

from farm.model import ExitKind, ProcessExit, Usage
from tests.builders.worker.recorded import exited, heard, lines, played
from worker.agents.claude_code import ClaudeCodeAgent

MODEL = "claude-opus-5-5"
GOLDEN = Usage(
    input_tokens=3010, cached_input_tokens=89000, cache_write_tokens=1500, output_tokens=150, thinking_tokens=0
)
ANSWER = "All done: hello.txt written."


def an_agent(**options):
    return ClaudeCodeAgent({"model": MODEL, **options})


def init(**more):
    return {"type": "system", "subtype": "init", "claude_code_version": "2.1.332", "session_id": "s", **more}


def use(name, call="t1", /, **asked):
    block = {"type": "tool_use", "id": call, "name": name, "input": asked}
    return {"type": "assistant", "message": {"id": "m1", "model": MODEL, "content": [block]}}


def answered(call="t1", **more):
    return {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": call, **more}]}}


def result(**more):
    whole = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "permission_denials": []}
    return {**whole, **more}


def test_fact_1_a_success_counts_one_message_once_and_its_usage_by_the_result() -> None:
    report = played(an_agent(), "claude.success")
    assert (report.reason, report.problem, report.final_answer) == ("success", None, ANSWER)
    assert (report.turns, report.tool_calls, report.usage) == (2, {"Write": 1}, GOLDEN)
    assert (report.cost_usd, report.model) == (Decimal("0.04034"), MODEL)
    assert report.session_id is not None


def test_fact_2_a_refused_key_is_no_success_though_its_subtype_says_so() -> None:
    report = played(an_agent(), "claude.http401-retries0")
    assert report.reason == "authentication_error"
    assert report.problem is not None
    assert "401 scripted 401" in report.problem
    assert report.final_answer is None


@pytest.mark.parametrize(
    ("name", "reason", "says"),
    [
        ("claude.http429-on-turn2", "rate_limit_error", "Request rejected (429)"),
        ("claude.http529", "overloaded_error", "Repeated 529 Overloaded errors"),
        ("claude.connrefused", "api_error", "Connection refused"),
        ("claude.budget", "error_max_budget_usd", "Reached maximum budget ($0.1)"),
    ],
)
def test_a_failure_has_the_word_and_the_sentence_of_the_cli(name: str, reason: str, says: str) -> None:
    report = played(an_agent(), name)
    assert report.reason == reason
    assert says in (report.problem or "")
    assert report.final_answer is None


def test_what_was_used_before_a_rate_limit_is_reported() -> None:
    report = played(an_agent(), "claude.http429-on-turn2")
    assert report.usage is not None
    assert (report.usage.output_tokens, report.turns, report.cost_usd) == (120, 1, Decimal("0.0282"))


def test_fact_3_a_denied_tool_is_said_though_the_exit_is_zero_and_no_error_is_flagged() -> None:
    report = played(an_agent(), "claude.permission-denied")
    assert report.exit.is_zero
    assert (report.reason, report.final_answer) == ("permission_denied", ANSWER)
    assert report.problem == "the agent wanted tools that it was denied: Write"


def test_fact_4_an_interrupted_session_is_no_success_though_its_exit_is_zero() -> None:
    report = played(an_agent(), "claude.sigint-mid-stream")
    assert report.exit.is_zero
    assert report.reason == "error_during_execution"


@pytest.mark.parametrize("name", ["claude.sigterm-mid-stream", "claude.sigterm-mid-tool"])
def test_fact_5_an_exit_of_143_without_a_result_is_a_crash_or_our_stop(name: str) -> None:
    assert played(an_agent(), name).reason == "crashed"
    stopped = played(an_agent(), name, ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0))
    assert (stopped.reason, stopped.usage, stopped.turns, stopped.tool_calls) == ("stopped", None, None, None)
    assert stopped.model == MODEL


def test_fact_6_a_turn_cap_of_three_is_three_turns() -> None:
    report = played(an_agent(), "claude.maxturns3")
    assert (report.reason, report.turns) == ("error_max_turns", 3)


def test_fact_7_a_resumed_session_reports_this_runs_usage_and_the_cost_of_all() -> None:
    report = played(an_agent(), "claude.resume")
    assert report.usage is not None
    assert (report.usage.input_tokens, report.usage.cached_input_tokens, report.usage.output_tokens) == (10, 45000, 30)
    assert report.cost_usd == Decimal("0.05248")


def test_fact_8_bookkeeping_of_any_kind_may_stand_before_the_init() -> None:
    report = played(an_agent(), "claude.bare-full-flags")
    assert (report.reason, report.model) == ("success", "claude-sonnet-4-5")
    stream = lines({"type": "system", "subtype": "never_heard_of"}, init(), result())
    assert heard(an_agent(), stream).reason == "success"


def test_fact_9_a_stream_that_was_asked_for_again_is_two_turns_of_the_agent() -> None:
    report = played(an_agent(), "claude.malformed-sse")
    assert (report.reason, report.turns) == ("success", 2)


def test_fact_10_usage_after_a_broken_stream_is_reported_as_the_cli_has_it() -> None:
    report = played(an_agent(), "claude.sse-error-event")
    assert report.usage is not None
    assert (report.usage.input_tokens, report.cost_usd) == (6020, Decimal("0.04034"))


@pytest.mark.parametrize(("basis", "cost"), [("list", Decimal("0.04")), ("unknown", None)])
def test_fact_16_an_unknown_model_is_no_error_and_its_cost_is_not_guessed(basis: str, cost: Decimal | None) -> None:
    used = {"claude-opus-5-5": {"costBasis": "list"}, "my-model": {"costBasis": basis}}
    stream = lines(init(), result(total_cost_usd=0.04, modelUsage=used))
    report = heard(an_agent(), stream, stderr=b"[claude-code:unrecognized_model] my-model\n")
    assert (report.reason, report.cost_usd) == ("success", cost)


def test_fact_17_another_version_than_the_pinned_one_is_refused() -> None:
    assert played(an_agent(version="2.1.197"), "claude-2.1.197.success").reason == "success"
    report = played(an_agent(), "claude-2.1.197.success")
    assert report.reason == "stream_invalid"
    assert report.problem == "the stream of Claude Code '2.1.197', where the arm pins 2.1.332"


def test_partial_messages_are_skipped() -> None:
    assert played(an_agent(), "claude.bare-partial-messages").turns == 2


def test_a_session_that_was_killed_while_it_retried_has_no_totals() -> None:
    report = played(an_agent(), "claude.http401-default-retries")
    assert (report.reason, report.usage, report.cost_usd) == ("crashed", None, None)


def test_tools_of_sub_agents_count_and_their_answers_are_no_turns() -> None:
    ours, theirs = use("Agent"), {**use("Read", "t2"), "parent_tool_use_id": "t1"}
    theirs["message"] = {**theirs["message"], "id": "m2"}
    report = heard(an_agent(), lines(init(), ours, theirs, result()))
    assert (report.turns, report.tool_calls) == (1, {"Agent": 1, "Read": 1})


# Faults of the stream.


def test_bookkeeping_after_the_result_is_all_right() -> None:
    late = {"type": "system", "subtype": "task_notification", "status": "completed"}
    assert heard(an_agent(), lines(init(), result(), late, init(claude_code_version="x"))).reason == "success"


def test_any_other_event_after_the_result_is_a_fault() -> None:
    report = heard(an_agent(), lines(init(), result(), use("Bash")))
    assert (report.reason, report.problem) == ("stream_invalid", "an event of the type 'assistant' after the result")


def test_two_results_are_no_result() -> None:
    report = heard(an_agent(), lines(init(), result(), result()))
    assert (report.reason, report.usage) == ("two_terminals", None)


def test_an_event_of_an_unknown_type_is_a_fault() -> None:
    report = heard(an_agent(), lines(init(), {"type": "surprise"}, result()))
    assert (report.reason, report.problem) == ("stream_invalid", "an event of the unknown type 'surprise'")


@pytest.mark.parametrize("line", [b"oops", b"[]", b'{"a":1,"a":2}', b'{"a":NaN}', b"\xff"])
def test_a_line_that_is_no_json_object_is_a_fault(line: bytes) -> None:
    assert heard(an_agent(), lines(init()) + line + b"\n" + lines(result())).reason == "stream_invalid"


def test_what_is_written_in_the_place_of_events_is_shown() -> None:
    report = heard(an_agent(), b"Credit balance\tis too low\n", exited(1))
    assert report.reason == "stream_invalid"
    assert (report.problem or "").endswith("; it begins: Credit balance is too low")


@pytest.mark.parametrize("chunk", [1000, 1 << 24])
def test_a_line_above_eight_mebibytes_is_a_fault_however_it_comes(chunk: int) -> None:
    most = (8 << 20) - len(lines(result(result=""))) + 1
    fits = heard(an_agent(), lines(init(), result(result="x" * most)), chunk=chunk)
    assert fits.reason == "success"
    long = heard(an_agent(), lines(init(), result(result="x" * (most + 1))), chunk=chunk)
    assert (long.reason, long.problem) == ("stream_invalid", "line 2 is longer than 8388608 bytes")


def test_an_output_past_its_cap_is_a_fault_of_its_own() -> None:
    over = ProcessExit(kind=ExitKind.LIMIT, limit="output", wall_s=1.0)
    assert heard(an_agent(), lines(init()), over).reason == "output_limit"


def test_a_stream_that_ends_without_a_result_is_no_success_with_exit_zero() -> None:
    assert heard(an_agent(), lines(init(), use("Bash"))).reason == "no_terminal"


def test_what_it_said_last_on_standard_error_explains_a_crash() -> None:
    report = heard(an_agent(), b"", exited(1), stderr=b"Error: cannot be\nused with root privileges\n")
    assert (report.problem or "").endswith("without a terminal event: Error: cannot be used with root privileges")


def test_a_missing_error_flag_is_an_error() -> None:
    assert heard(an_agent(), lines(init(), result(is_error=None))).reason == "error_flag"


@pytest.mark.parametrize(
    ("plugins", "reason"),
    [
        ([{"path": "/cell/assets/review"}], "success"),
        ([{"path": "builtin"}, {"path": "/cell/assets/review/inner"}], "success"),
        ([{"path": "/cell/assets/reviewer"}], "stream_invalid"),
        ([{"path": 1}, "x"], "stream_invalid"),
        (None, "stream_invalid"),
    ],
)
def test_a_plug_in_of_the_arm_that_was_not_loaded_is_a_fault(plugins: list | None, reason: str) -> None:
    assert heard(an_agent(plugins=["review"]), lines(init(plugins=plugins), result())).reason == reason


SERVER = {"asset": "tools", "argv": ["python3", "{asset}/server.py"]}


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ([{"name": "tools", "status": "connected"}], None),
        ([{"name": "tools", "status": "failed"}], "the MCP server 'tools' of the arm is failed"),
        (
            [{"name": "others", "status": "connected"}, {"name": "tools"}],
            "the MCP server 'tools' of the arm is missing",
        ),
        (None, "the MCP server 'tools' of the arm is missing"),
    ],
)
def test_a_server_of_the_arm_that_does_not_answer_is_a_fault(servers: list | None, problem: str | None) -> None:
    report = heard(an_agent(mcp={"tools": SERVER}), lines(init(mcp_servers=servers), result()))
    assert (report.reason, report.problem) == ("success" if problem is None else "stream_invalid", problem)


# A skill that must be used.


def skilled(*events):
    return heard(an_agent(required_skill="greet"), lines(init(), *events, result())).reason


@pytest.mark.parametrize(
    "asked",
    [{"skill": "greet"}, {"skill": "plug:greet"}, {"command": "/greet loudly"}, {"name": "/plug:greet x"}],
)
def test_a_skill_that_was_called_and_answered_is_proven(asked: dict) -> None:
    assert skilled(use("Skill", **asked), answered()) == "success"


@pytest.mark.parametrize(
    "events",
    [
        [],
        [use("Skill", skill="wave"), answered()],
        [use("Bash", skill="greet"), answered()],
        [use("Skill", skill="greet")],
        [use("Skill", skill="greet"), answered(is_error=True)],
        [use("Skill", skill="greet"), answered("t9")],
        [use("Skill", skill=7), answered()],
    ],
)
def test_a_session_without_a_successful_call_has_not_used_the_skill(events: list) -> None:
    assert skilled(*events) == "skill-not-invoked"


@pytest.mark.parametrize(
    "events",
    [
        [answered(), use("Skill", skill="greet"), answered()],
        [use("Skill", skill="greet"), use("Skill", skill="greet"), answered()],
        [use("Skill", skill="greet"), answered(is_error="no")],
        [use("Skill", skill="greet"), answered(), answered(is_error=True)],
        [use("Skill", "x" * 201, skill="greet")],
    ],
)
def test_a_stream_that_contradicts_itself_proves_nothing_about_the_skill(events: list) -> None:
    assert skilled(*events) == "skill-unverified"


def test_the_other_numbers_of_a_session_without_its_skill_are_kept() -> None:
    agent = an_agent(required_skill="greet")
    report = played(agent, "claude.success")
    assert report.reason == "skill-not-invoked"
    assert (report.usage, report.cost_usd, report.final_answer) == (GOLDEN, Decimal("0.04034"), ANSWER)


def test_a_failure_comes_before_a_skill_that_was_not_used() -> None:
    assert played(an_agent(required_skill="greet"), "claude.maxturns3").reason == "error_max_turns"
