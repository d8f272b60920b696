import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from farm.model import Wire
from worker.provider.answer import NativeCall
from worker.provider.asked import Asked, Form, Offered, Said, Speaker
from worker.provider.script import Act
from worker.provider.tools import NoToolError, ending, ends_by_command, in_terms_of

TEXT = {"type": "string"}
CODE = Offered("exec", {}, Form.TEXT)
NASTY = 'it\'s "$HOME" `x` \\n %s\n\n'


def offers(**tools: tuple[str, ...]) -> dict[str, Offered]:
    return {name: Offered(name, dict.fromkeys(fields, TEXT)) for name, fields in tools.items()}


CLAUDE = offers(Write=("file_path", "content"), Bash=("command", "description", "timeout"), Skill=("skill", "args"))
OPENCODE = offers(write=("filePath", "content"), bash=("command", "timeout", "workdir"), skill=("name",))
GEMINI = offers(write_file=("file_path", "content"), run_shell_command=("command", "description", "is_background"))
CODEX = offers(exec_command=("cmd", "workdir"), write_stdin=("session_id",))
MINI = offers(bash=("command",))


def act(**what: Any) -> Act:
    return Act.model_validate(what)


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (CLAUDE, NativeCall("Write", {"file_path": "a/b.txt", "content": "hi"})),
        (OPENCODE, NativeCall("write", {"filePath": "a/b.txt", "content": "hi"})),
        (GEMINI, NativeCall("write_file", {"file_path": "a/b.txt", "content": "hi"})),
    ],
)
def test_a_file_is_written_by_the_agents_own_tool(tools: dict[str, Offered], call: NativeCall) -> None:
    assert in_terms_of(tools, act(write={"path": "a/b.txt", "text": "hi"})) == call


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (CLAUDE, NativeCall("Bash", {"command": "ls", "description": "A step of the script"})),
        (OPENCODE, NativeCall("bash", {"command": "ls"})),
        (
            GEMINI,
            NativeCall(
                "run_shell_command", {"command": "ls", "description": "A step of the script", "is_background": False}
            ),
        ),
        (CODEX, NativeCall("exec_command", {"cmd": "ls"})),
        (MINI, NativeCall("bash", {"command": "ls"})),
        (
            {"shell": Offered("shell", {"command": {"type": "array"}})},
            NativeCall("shell", {"command": ["bash", "-lc", "ls"]}),
        ),
        ({"exec": CODE}, NativeCall("exec", 'text(JSON.stringify(await tools.exec_command({"cmd": "ls"})));')),
    ],
)
def test_a_command_is_run_by_the_agents_own_shell(tools: dict[str, Offered], call: NativeCall) -> None:
    assert in_terms_of(tools, act(run={"command": "ls"})) == call


def test_a_file_is_written_by_the_shell_where_the_tool_insists_on_absolute_paths() -> None:
    path = {"type": "string", "description": "An absolute path. Relative paths are not supported."}
    tools = {"write_file": Offered("write_file", {"file_path": path, "content": TEXT}), **MINI}
    assert in_terms_of(tools, act(write={"path": "a.txt", "text": "hi"})).tool == "bash"


def test_a_file_is_written_by_the_shell_where_there_is_no_tool_for_it(tmp_path: Path) -> None:
    call = in_terms_of(CODEX, act(write={"path": "deep down/it's.txt", "text": NASTY}))
    assert isinstance(call.input, dict)
    subprocess.run(["sh", "-c", call.input["cmd"]], cwd=tmp_path, check=True)
    assert (tmp_path / "deep down" / "it's.txt").read_text() == NASTY


@pytest.mark.parametrize(
    ("tools", "call"),
    [
        (CLAUDE, NativeCall("Skill", {"skill": "deploy", "args": "now"})),
        (OPENCODE, NativeCall("skill", {"name": "deploy"})),
    ],
)
def test_a_skill_is_invoked_by_the_agents_own_tool(tools: dict[str, Offered], call: NativeCall) -> None:
    assert in_terms_of(tools, act(skill={"name": "deploy", "arguments": "now"})) == call


def test_a_named_tool_is_called_as_it_stands() -> None:
    assert in_terms_of({}, act(call={"name": "Frob", "input": {"x": [1]}})) == NativeCall("Frob", {"x": [1]})


@pytest.mark.parametrize(
    ("what", "does"),
    [
        ({"write": {"path": "a", "text": ""}}, "writes a file"),
        ({"run": {"command": "ls"}}, "runs a command"),
        ({"skill": {"name": "x"}}, "invokes a skill"),
    ],
)
def test_what_no_tool_is_offered_for_is_said(what: dict[str, Any], does: str) -> None:
    with pytest.raises(NoToolError, match=rf"the reply {does}, .* it offers: Grep, Read"):
        in_terms_of(offers(Read=(), Grep=()), act(**what))


def test_only_an_agent_that_has_but_a_shell_and_was_told_so_ends_by_a_command() -> None:
    told = (Said(Speaker.USER, "End with `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`."),)
    mini = Asked(Wire.CHAT, "m", is_streamed=False, said=told, tools=MINI)
    claude = Asked(Wire.ANTHROPIC, "m", is_streamed=True, said=told, tools=CLAUDE)
    codex = Asked(Wire.RESPONSES, "m", is_streamed=True, said=(Said(Speaker.USER, "Fix it."),), tools=CODEX)
    assert [ends_by_command(each) for each in (mini, claude, codex)] == [True, False, False]


def test_the_command_that_ends_a_session_prints_the_answer_after_the_word() -> None:
    call = ending(MINI, NASTY)
    assert isinstance(call.input, dict)
    printed = subprocess.run(["sh", "-c", call.input["command"]], check=True, capture_output=True, text=True).stdout
    assert printed == f"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n{NASTY}\n"


def test_code_quotes_its_command() -> None:
    call = in_terms_of({"exec": CODE}, act(run={"command": NASTY}))
    assert isinstance(call.input, str)
    assert json.loads(
        call.input.removeprefix("text(JSON.stringify(await tools.exec_command(").removesuffix(")));")
    ) == {"cmd": NASTY}
