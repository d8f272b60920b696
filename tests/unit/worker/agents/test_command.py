"""The command agent: any headless command line by template."""

import json
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import Cell, Digest, ExitKind, OracleSpec, ProcessExit, SessionReport, Snapshot, Task, Usage
from sandbox.spec import Stream
from worker.agents.command import CommandAgent
from worker.session import SessionRequest

DIGEST = Digest.of(b"")
TASK = Task(
    id="fix",
    snapshot=Snapshot(commit="0" * 40, tree=DIGEST, size_bytes=0),
    prompt=DIGEST,
    oracle=OracleSpec(kind="answer"),
)
JSON_CLI: dict[str, Any] = {
    "argv": ["some-cli", "--print", "--append", "{instructions}"],
    "instructions": "argv",
    "answer": {"from": "json", "pointer": "/result"},
    "reason": {"pointer": "/subtype"},
    "error": {"pointer": "/is_error"},
    "usage": {"input_tokens": "/usage/input_tokens", "output_tokens": "/usage/output_tokens"},
    "cost": {"pointer": "/total_cost_usd"},
    "turns": {"pointer": "/num_turns"},
    "session": {"pointer": "/session_id"},
}
DONE: dict[str, Any] = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "42",
    "num_turns": 3,
    "session_id": "s-1",
    "total_cost_usd": 0.0125,
    "usage": {"input_tokens": 100, "output_tokens": 7},
}


def a_request(instructions: str | None = None) -> SessionRequest:
    return SessionRequest("work", Cell(task="fix", arm="base", trial=1), TASK, "Fix {instructions}.", instructions)


def report(options: dict[str, Any], stdout: bytes, code: int = 0) -> SessionReport:
    parser = CommandAgent(options).parser("work")
    parser.feed(Stream.STDERR, b"noise")
    for start in range(0, len(stdout), 11):
        parser.feed(Stream.STDOUT, stdout[start : start + 11])
    return parser.finish(ProcessExit(kind=ExitKind.EXITED, code=code, wall_s=1.0))


def test_a_json_document_is_read_by_pointers() -> None:
    found = report(JSON_CLI, json.dumps(DONE).encode())
    assert (found.reason, found.problem, found.final_answer) == ("success", None, "42")
    assert (found.turns, str(found.cost_usd), found.session_id) == (3, "0.0125", "s-1")
    assert found.usage == Usage(input_tokens=100, output_tokens=7)
    assert found.tool_calls is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"is_error": True}, "error_flag"),
        ({"is_error": {}}, "error_flag"),
        ({"subtype": "error_max_turns", "is_error": True}, "error_max_turns"),
        ({"result": " \n"}, "blank_answer"),
        ({"result": None}, "blank_answer"),
    ],
)
def test_a_document_that_tells_of_a_failure_is_no_success(change: dict[str, Any], reason: str) -> None:
    found = report(JSON_CLI, json.dumps(DONE | change).encode())
    assert found.reason == reason
    assert found.problem is not None


@pytest.mark.parametrize(
    ("stdout", "code", "reason"),
    [
        (b"", 0, "no_terminal"),
        (b"", 1, "crashed"),
        (b"Error: no key", 1, "stream_invalid"),
        (b"{}{}", 0, "stream_invalid"),
        (json.dumps(DONE).encode(), 2, "crashed"),
    ],
)
def test_an_output_that_is_no_document_is_named(stdout: bytes, code: int, reason: str) -> None:
    assert report(JSON_CLI, stdout, code).reason == reason


def test_unknown_usage_is_none_and_never_zero() -> None:
    found = report(JSON_CLI, json.dumps(DONE | {"usage": {"input_tokens": "100", "output_tokens": True}}).encode())
    assert found.usage == Usage()
    assert report({"argv": ["cli"]}, b"yes").usage is None


def test_plain_output_is_the_answer() -> None:
    found = report({"argv": ["cli"]}, " grüß \n".encode())
    assert (found.reason, found.final_answer) == ("success", "grüß")
    assert report({"argv": ["cli"]}, b"\xff").reason == "stream_invalid"


def test_json_lines_need_exactly_one_terminal_event() -> None:
    options = {**JSON_CLI, "answer": {"from": "json-lines", "pointer": "/result"}}
    start, end = json.dumps({"type": "init"}).encode() + b"\n", json.dumps(DONE).encode() + b"\n"
    assert report(options, start + end).reason == "success"
    assert report(options, start).reason == "no_terminal"
    assert report(options, start + end + end).reason == "two_terminals"
    assert report(options, start + b"oops\n" + end).reason == "stream_invalid"


def test_texts_are_put_in_once_and_where_the_template_says() -> None:
    launch = CommandAgent(JSON_CLI).launch(a_request("Say {prompt}."))
    assert launch.argv == ("some-cli", "--print", "--append", "Say {prompt}.")
    assert launch.stdin == b"Fix {instructions}."
    on_argv = CommandAgent({"argv": ["cli", "--p={prompt}"], "prompt": "argv"}).launch(a_request("Brief."))
    assert (on_argv.argv, on_argv.stdin) == (("cli", "--p=Fix {instructions}.\n\nBrief."), b"")
    by_file = CommandAgent({"argv": ["cli"], "instructions": "file:.cli/RULES.md"}).launch(a_request("Brief."))
    assert by_file.home_files == {".cli/RULES.md": b"Brief."}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"argv": []},
        {"argv": ["cli", "{prompt}"]},
        {"argv": ["cli"], "prompt": "argv"},
        {"argv": ["cli"], "instructions": "argv"},
        {"argv": ["cli"], "instructions": "file:../x"},
        {"argv": ["cli"], "answer": {"from": "json"}},
        {"argv": ["cli"], "answer": {"from": "stdout", "pointer": "/a"}},
        {"argv": ["cli"], "answer": {"from": "json", "pointer": "result"}},
        {"argv": ["cli"], "answr": {}},
    ],
)
def test_templates_that_are_wrong_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        CommandAgent(options)


def test_normalised_options_make_the_same_agent() -> None:
    agent = CommandAgent(JSON_CLI)
    assert CommandAgent(agent.options).options == agent.options


def test_of_two_terminal_events_neither_is_the_sessions_total() -> None:
    lines = JSON_CLI | {"answer": {"from": "json-lines", "pointer": "/result"}}
    event = json.dumps(DONE).encode() + b"\n"
    assert report(lines, event).turns == 3
    for stream in (event + event, event + b"plain text\n"):
        found = report(lines, stream)
        assert (found.turns, found.usage, found.cost_usd) == (None, None, None)
