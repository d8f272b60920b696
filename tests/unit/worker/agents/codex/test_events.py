"""What Codex's streams are read as: those recorded of the real program, and what must be refused."""

import pytest

from farm.model import ExitKind, ProcessExit, Usage
from tests.builders.worker.recorded import exited, heard, lines, played
from worker.agents.codex import CodexAgent

MODEL = "gpt-6.2-sol"
GOLDEN = Usage(
    input_tokens=93510, cached_input_tokens=89000, cache_write_tokens=1500, output_tokens=150, thinking_tokens=45
)
ANSWER = "All done: hello.txt written."
STARTED = {"type": "thread.started", "thread_id": "t"}
SAID = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
COMPLETED = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}}


def an_agent(**options):
    return CodexAgent({"model": MODEL, **options})


READ = "---\nname: greet\ndescription: Greets loudly.\n---\nSay HELLO.\n"


def command(text, exit_code=0, status="completed", output=READ):
    item = {"type": "command_execution", "command": text, "exit_code": exit_code, "status": status}
    item["aggregated_output"] = output
    return {"type": "item.completed", "item": item}


@pytest.mark.parametrize("name", ["codex.success", "codex.success-codemode"])
def test_fact_19_a_success_may_hold_a_thing_of_the_kind_error(name: str) -> None:
    report = played(an_agent(), name)
    assert (report.reason, report.problem, report.final_answer) == ("success", None, ANSWER)
    assert (report.usage, report.tool_calls) == (GOLDEN, {"command_execution": 1})
    assert (report.turns, report.model, report.cost_usd) == (None, None, None)
    assert report.session_id is not None


def test_fact_20_a_failed_turn_states_no_usage() -> None:
    report = played(an_agent(), "codex.http429-on-turn2")
    assert (report.reason, report.usage, report.final_answer) == ("turn_failed", None, None)
    assert "last status: 429 Too Many Requests" in (report.problem or "")
    assert report.tool_calls == {"command_execution": 1}


def test_fact_21_usage_of_a_resumed_thread_is_reported_as_the_cli_has_it() -> None:
    usage = played(an_agent(), "codex.resume-cumulative").usage
    assert usage is not None
    assert usage.input_tokens == 139020


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("codex.http401", "401 Unauthorized"),
        ("codex.http500", "experiencing high demand"),
        ("codex.malformed-sse", "stream closed before response.completed"),
        ("codex.connrefused-bounded", "Connection failed"),
    ],
)
def test_a_failure_has_the_sentence_of_the_cli(name: str, says: str) -> None:
    report = played(an_agent(), name)
    assert report.reason == "turn_failed"
    assert says in (report.problem or "")


def test_fact_22_that_it_reconnects_is_not_the_end() -> None:
    assert played(an_agent(), "codex.builtin-provider-websocket").reason == "success"


def test_fact_23_a_session_that_waited_for_ever_has_no_totals() -> None:
    wall = ProcessExit(kind=ExitKind.LIMIT, limit="wall", wall_s=100.0)
    report = played(an_agent(), "codex.connrefused", wall)
    assert (report.reason, report.usage, report.tool_calls) == ("wall_limit", None, None)


def test_fact_24_a_command_that_was_refused_in_silence_is_no_tool_call() -> None:
    assert played(an_agent(), "codex.readonly-sandbox").tool_calls == {}


def test_a_signal_in_the_middle_of_a_tool_is_a_crash_or_our_stop() -> None:
    assert played(an_agent(), "codex.sigterm-mid-tool").reason == "crashed"
    stopped = played(an_agent(), "codex.sigterm-mid-tool", ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0))
    assert (stopped.reason, stopped.usage) == ("stopped", None)


# Faults of the stream.


def test_an_event_after_the_turns_end_is_a_fault() -> None:
    report = heard(an_agent(), lines(STARTED, SAID, COMPLETED, SAID))
    assert report.problem == "an event of the type 'item.completed' after the turn's end"


def test_two_ends_are_no_end() -> None:
    assert heard(an_agent(), lines(STARTED, SAID, COMPLETED, COMPLETED)).reason == "two_terminals"


def test_an_event_of_an_unknown_type_is_a_fault_and_a_thing_of_an_unknown_kind_is_a_tool() -> None:
    assert heard(an_agent(), lines(STARTED, {"type": "surprise"}, SAID, COMPLETED)).reason == "stream_invalid"
    thing = {"type": "item.completed", "item": {"type": "hologram"}}
    assert heard(an_agent(), lines(STARTED, thing, SAID, COMPLETED)).tool_calls == {"hologram": 1}


def test_a_completed_turn_without_words_is_a_blank_answer() -> None:
    assert heard(an_agent(), lines(STARTED, COMPLETED)).reason == "blank_answer"


def test_a_line_above_eight_mebibytes_is_a_fault() -> None:
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": "x" * (8 << 20)}}
    assert heard(an_agent(), lines(STARTED, said, COMPLETED)).problem == "line 2 is longer than 8388608 bytes"


def test_its_last_error_explains_a_crash() -> None:
    stream = lines(STARTED, {"type": "error", "message": "Reconnecting...\n1/1"})
    report = heard(an_agent(), stream, exited(101), stderr=b"panicked")
    assert (report.problem or "").endswith("without a terminal event: Reconnecting... 1/1")


# A skill that must be used.


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (command("/bin/sh -lc 'cat .agents/skills/greet/SKILL.md'"), "success"),
        (command("sed -n 1,200p /cell/ws/.codex/skills/greet/SKILL.md"), "success"),
        (command("cat .agents/skills/greet/SKILL.md", exit_code=1), "skill-not-invoked"),
        (command("cat .agents/skills/greet/SKILL.md", status="failed"), "skill-not-invoked"),
        (command("cat .agents/skills/regreet/SKILL.md"), "skill-not-invoked"),
        (command("cat .agents/skills/greet/SKILL.md.bak"), "skill-not-invoked"),
        (command("echo greet"), "skill-not-invoked"),
        (command("ls greet/SKILL.md || true", output="No such file\n"), "skill-not-invoked"),
        (command("cat greet/SKILL.md", output="---\nname: regreet\n---\n"), "skill-not-invoked"),
    ],
)
def test_a_skill_is_proven_by_a_command_that_read_it(event: dict, reason: str) -> None:
    assert heard(an_agent(required_skill="greet"), lines(STARTED, event, SAID, COMPLETED)).reason == reason
