"""The scripted agent, its scripts run by the machine's own sh."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from farm.errors import SpecError
from farm.model import (
    Cell,
    Digest,
    ExitKind,
    OracleSpec,
    ProcessExit,
    SessionReport,
    Snapshot,
    Task,
    Usage,
)
from sandbox.spec import Stream
from worker.agents.scripted import ScriptedAgent, ScriptedParser
from worker.session import Launch, SessionRequest

DIGEST = Digest.of(b"")
TASK = Task(
    id="fix",
    snapshot=Snapshot(commit="0" * 40, tree=DIGEST, size_bytes=0),
    prompt=DIGEST,
    oracle=OracleSpec(kind="answer"),
)


def an_agent(*script: dict[str, Any]) -> ScriptedAgent:
    return ScriptedAgent({"scripts": {"*": list(script)}})


def a_launch(agent: ScriptedAgent, trial: int = 1, instructions: str | None = None) -> Launch:
    cell = Cell(task="fix", arm="base", trial=trial)
    return agent.launch(SessionRequest("work", cell, TASK, "Fix it.", instructions))


def replayed(agent: ScriptedAgent, folder: Path, trial: int = 1) -> SessionReport:
    """Run the compiled script in `folder` without a sandbox, and parse what it says."""
    launch = a_launch(agent, trial)
    (body,) = launch.home_files.values()
    ran = subprocess.run(["sh", "-c", body.decode()], input=launch.stdin, capture_output=True, cwd=folder, check=False)
    parser = agent.parser("work")
    for start in range(0, len(ran.stdout), 7):
        parser.feed(Stream.STDOUT, ran.stdout[start : start + 7])
    return parser.finish(ProcessExit(kind=ExitKind.EXITED, code=ran.returncode, wall_s=0.1))


def test_an_empty_script_succeeds_with_an_answer(tmp_path: Path) -> None:
    report = replayed(an_agent(), tmp_path)
    assert (report.reason, report.problem, report.final_answer, report.turns) == ("success", None, "done", 0)
    assert report.tool_calls == {}


NASTY = 'it\'s "quoted" $HOME `id` \\n %s %% \t\n  -n\n\nend without line feed \N{SNOWMAN}'


def test_files_hold_exactly_the_scripts_text(tmp_path: Path) -> None:
    script = [
        {"write": {"path": "deep/er/it's $HOME.txt", "text": NASTY}},
        {"append": {"path": "deep/er/it's $HOME.txt", "text": "-e more"}},
        {"write": {"path": "-rf", "text": ""}},
        {"write": {"path": "gone/x", "text": "x"}},
        {"delete": {"path": "gone"}},
    ]
    assert replayed(an_agent(*script), tmp_path).problem is None
    assert (tmp_path / "deep/er/it's $HOME.txt").read_text() == NASTY + "-e more"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["-rf", "deep"]


def test_what_a_session_reports_is_what_the_script_says(tmp_path: Path) -> None:
    script = [
        {"say": NASTY},
        {"tool": {"name": "Bash", "count": 2}},
        {"tool": {"name": "Bash"}},
        {"tool": {"name": "Read", "count": 0}},
        {"usage": {"input_tokens": 10, "thinking_tokens": 3}},
        {"cost": 0.5},
        {"cost": 0.25},
        {"answer": {"json": {"a": [1, 1.0, True, None]}}},
    ]
    report = replayed(an_agent(*script), tmp_path)
    assert report.tool_calls == {"Bash": 3, "Read": 0}
    assert report.usage == Usage(input_tokens=10, thinking_tokens=3)
    assert report.usage.output_tokens is None
    assert (report.turns, str(report.cost_usd)) == (4, "0.75")
    assert json.loads(report.final_answer or "") == {"a": [1, 1.0, True, None]}


def test_commands_write_to_stderr_and_may_read_the_prompt(tmp_path: Path) -> None:
    script = [{"run": {"command": 'echo \'{"type": "result"}\'; cat > prompt'}}]
    assert replayed(an_agent(*script), tmp_path).problem is None
    assert (tmp_path / "prompt").read_text() == "Fix it."


def test_instructions_are_appended_to_the_prompt() -> None:
    assert a_launch(an_agent(), instructions="Be brief.").stdin == b"Fix it.\n\nBe brief."


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"crash": {"code": 3}}, "crashed"),
        ({"silent": True}, "no_terminal"),
        ({"run": {"command": "false", "must_succeed": True}}, "crashed"),
    ],
)
def test_a_script_that_ends_early_goes_no_further(tmp_path: Path, step: dict[str, Any], reason: str) -> None:
    report = replayed(an_agent(step, {"write": {"path": "after", "text": ""}}), tmp_path)
    assert report.reason == reason
    assert not (tmp_path / "after").exists()


def test_a_failing_command_goes_on_unless_it_must_succeed(tmp_path: Path) -> None:
    assert replayed(an_agent({"run": {"command": "false"}}), tmp_path).problem is None


def test_a_flood_below_the_limit_is_a_valid_stream(tmp_path: Path) -> None:
    assert replayed(an_agent({"flood": {"bytes": 100_000}}), tmp_path).problem is None


def test_scripts_of_a_list_are_taken_in_turn_by_trial(tmp_path: Path) -> None:
    agent = ScriptedAgent({"scripts": {"fix": [[{"answer": {"text": "one"}}], [{"answer": {"text": "two"}}]]}})
    answers = [replayed(agent, tmp_path, trial).final_answer for trial in (1, 2, 3)]
    assert answers == ["one", "two", "one"]


def test_a_task_without_a_script_is_a_spec_error() -> None:
    with pytest.raises(SpecError, match="no script for task 'fix'"):
        a_launch(ScriptedAgent({"scripts": {"other": []}}))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scripts": {}},
        {"scripts": {"*": [{"wirte": {"path": "a", "text": ""}}]}},
        {"scripts": {"*": [{"say": "a", "sleep": 1}]}},
        {"scripts": {"*": [{"write": {"path": "../a", "text": ""}}]}},
        {"scripts": {"*": [{"write": {"path": "a", "text": "\0"}}]}},
        {"scripts": {"*": []}, "more": 1},
    ],
)
def test_options_that_are_wrong_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        ScriptedAgent(options)


def test_normalised_options_make_the_same_agent() -> None:
    agent = an_agent({"answer": {"json": 1}}, {"flood": {"bytes": 5}}, {"silent": True})
    again = ScriptedAgent(agent.options)
    assert again.options == agent.options
    assert a_launch(again) == a_launch(agent)


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (b'{"type": "result", "answer": "a", "reason": "success"}\n' * 2, "two_terminals"),
        (b'{"type": "result", "answer": "a"}\n', "error_flag"),
        (b'{"type": "result", "answer": 7, "reason": "success"}\n', "blank_answer"),
        (b'{"type": "result", "answer": "\\ud800", "reason": "success"}\n', "blank_answer"),
        (b"plain text\n", "stream_invalid"),
        (b"[]\n", "stream_invalid"),
        (b'{"type": "init", "type": "result"}\n', "stream_invalid"),
        (b'{"type": "unheard-of"}\n', "stream_invalid"),
        (b'{"type": "tool_use", "name": "Bash", "count": true}\n', "stream_invalid"),
        (b'{"type": "tool_use", "name": "Bash", "count": -1}\n', "stream_invalid"),
        (b"\xff\n", "stream_invalid"),
        (b"[" * 100_000 + b"\n", "stream_invalid"),
        (b'{"a": NaN}\n', "stream_invalid"),
        (b"x" * (5 << 20), "stream_invalid"),
        (b"", "no_terminal"),
    ],
)
def test_a_stream_that_is_not_as_it_must_be_is_no_success(stream: bytes, reason: str) -> None:
    parser = ScriptedParser("work")
    parser.feed(Stream.STDOUT, stream)
    report = parser.finish(ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0))
    assert report.reason == reason
    assert report.problem is not None


TOOL = b'{"type": "tool_use", "name": "Bash", "count": 1}\n'
END = (
    b'{"type": "result", "answer": "a", "reason": "success", "turns": 1, "usage": {"input_tokens": 1}, "cost_usd": 1}\n'
)


@pytest.mark.parametrize(
    "stream", [b"", TOOL, TOOL + END + END, TOOL + b'{"type": "unheard-of"}\n' + END, TOOL + END + b"plain text\n"]
)
def test_a_session_that_was_not_heard_to_its_end_has_counted_nothing(stream: bytes) -> None:
    parser = ScriptedParser("work")
    parser.feed(Stream.STDOUT, stream)
    report = parser.finish(ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0))
    assert (report.tool_calls, report.turns, report.usage, report.cost_usd) == (None, None, None, None)


def test_what_the_sandbox_saw_goes_before_what_the_stream_says() -> None:
    parser = ScriptedParser("work")
    parser.feed(Stream.STDOUT, b'{"type": "result", "answer": "a", "reason": "success"}\n')
    report = parser.finish(ProcessExit(kind=ExitKind.LIMIT, limit="wall", wall_s=9.0))
    assert (report.reason, report.final_answer) == ("wall_limit", "a")


def test_a_command_that_runs_as_a_tool_is_reported_and_needs_a_tool_room(tmp_path: Path) -> None:
    agent = an_agent({"say": "hm"}, {"tool_run": {"command": "true", "name": "bash"}})
    assert a_launch(agent).runs_tools
    report = replayed(agent, tmp_path)
    assert (report.tool_calls, report.turns) == ({"bash": 1}, 2)


def test_a_script_without_such_a_command_needs_none() -> None:
    assert not a_launch(an_agent({"run": {"command": "true"}})).runs_tools


def test_a_session_has_a_script_of_its_own_before_its_tasks() -> None:
    scripts = {"fix": [{"say": "task"}], "*/plan": [{"say": "any plan"}], "fix/work": [{"say": "its work"}]}
    agent = ScriptedAgent({"scripts": scripts})

    def said(task: Task, session: str) -> str:
        request = SessionRequest(session, Cell(task=task.id, arm="base", trial=1), task, "Fix it.", None)
        (body,) = agent.launch(request).home_files.values()
        return body.decode()

    assert "any plan" in said(TASK, "plan")
    assert "its work" in said(TASK, "work")
    assert '"task"' in said(TASK, "review")
    assert "any plan" in said(TASK.model_copy(update={"id": "other"}), "plan")


def test_a_denied_tool_runs_nothing_and_is_reported(tmp_path: Path) -> None:
    steps = [{"tool_run": {"command": "touch ran"}}, {"skill": {"name": "work"}}]
    agent = ScriptedAgent({"scripts": {"*": steps}, "denied_tools": ["shell", "Skill"]})
    report = replayed(agent, tmp_path)
    assert report.reason == "permission_denied"
    assert "shell, Skill" in (report.problem or "")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"skill": {"name": "/house:work now"}}, "success"),
        ({"skill": {"name": "work", "succeeds": False}}, "skill-not-invoked"),
        ({"skill": {"name": "other"}}, "skill-not-invoked"),
        ({"say": "work"}, "skill-not-invoked"),
    ],
)
def test_a_required_skill_must_be_used_with_success(tmp_path: Path, step: dict[str, Any], reason: str) -> None:
    agent = ScriptedAgent({"scripts": {"*": [step]}, "required_skill": "work"})
    assert replayed(agent, tmp_path).reason == reason
