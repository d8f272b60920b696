"""The script's tool calls in the terms of the agent that asks, told by the tools that its request offers."""

import json
import posixpath
import shlex
from collections.abc import Mapping
from typing import assert_never

from pydantic import JsonValue

from worker.provider.answer import NativeCall
from worker.provider.asked import Asked, Form, Offered, Speaker, mapping, text
from worker.provider.script import Act, Call, Run, Skill, Write

_WRITERS = ("Write", "write", "write_file")
_SHELLS = ("Bash", "bash", "exec_command", "run_shell_command", "shell_command", "shell")
_SKILLS = ("Skill", "skill", "activate_skill")
_CODE = "exec"
"""A tool that takes JavaScript, in which the shell is a function."""
_LAST_WORD = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""mini-swe-agent ends when a command prints this line; its answer is what is printed after it."""
_NO_RELATIVE = "Relative paths are not supported"
_PATH_FIELDS = ("file_path", "filePath", "path")
_TEXT_FIELDS = ("content", "text")
_COMMAND_FIELDS = ("cmd", "command")
_SKILL_FIELDS = ("skill", "name")
_ARGUMENTS = "args"
_EXTRAS: Mapping[str, JsonValue] = {"description": "A step of the script", "is_background": False}
"""Fields that some agents require beside the command."""


class NoToolError(Exception):
    """The request offers no tool for what the script wants to be done."""


def in_terms_of(tools: Mapping[str, Offered], act: Act) -> NativeCall:
    """Translate one tool call; raises NoToolError."""
    match act.write or act.run or act.skill or act.call:
        case Write() as write:
            return _write(tools, write)
        case Run(command=command):
            return _run(tools, command, "runs a command")
        case Skill() as skill:
            return _skill(tools, skill)
        case Call(name=name, input=given):
            return NativeCall(name, given)
        case None:
            raise AssertionError("an act is one of the four")
        case never:
            assert_never(never)


def ends_by_command(asked: Asked) -> bool:
    """Say whether the agent is one that text alone does not end."""
    return bool(asked.tools) and _first(asked.tools, _WRITERS) is None and _LAST_WORD in asked.text_of(Speaker.USER)


def ending(tools: Mapping[str, Offered], answer: str) -> NativeCall:
    """Give the command that ends such an agent with an answer; raises NoToolError."""
    return _run(tools, f"printf '%s\\n' {_LAST_WORD} {shlex.quote(answer)}", "ends the session")


def _write(tools: Mapping[str, Offered], write: Write) -> NativeCall:
    tool = _first(tools, _WRITERS)
    path, content = (None, None) if tool is None else (_field(tool, _PATH_FIELDS), _field(tool, _TEXT_FIELDS))
    if tool is not None and path is not None and content is not None and _takes_relative(tool, path):
        return NativeCall(tool.name, {path: write.path, content: write.text})
    folder = posixpath.dirname(write.path)
    steps = [f"mkdir -p -- {shlex.quote(folder)}"] if folder else []
    steps.append(f"printf %s {shlex.quote(write.text)} > {shlex.quote(write.path)}")
    return _run(tools, " && ".join(steps), "writes a file")


def _run(tools: Mapping[str, Offered], command: str, does: str) -> NativeCall:
    tool = _first(tools, _SHELLS)
    field = None if tool is None else _field(tool, _COMMAND_FIELDS)
    if tool is not None and field is not None:
        takes_words = mapping(tool.fields[field]).get("type") == "array"
        words: list[JsonValue] = ["bash", "-lc", command]
        extras = {name: value for name, value in _EXTRAS.items() if name in tool.fields}
        return NativeCall(tool.name, {field: words if takes_words else command, **extras})
    code = tools.get(_CODE)
    if code is not None and code.form is Form.TEXT:
        return NativeCall(_CODE, f"text(JSON.stringify(await tools.exec_command({json.dumps({'cmd': command})})));")
    raise _no_tool(tools, does, (*_SHELLS, _CODE))


def _skill(tools: Mapping[str, Offered], skill: Skill) -> NativeCall:
    tool = _first(tools, _SKILLS)
    field = None if tool is None else _field(tool, _SKILL_FIELDS)
    if tool is None or field is None:
        raise _no_tool(tools, "invokes a skill", _SKILLS)
    takes = skill.arguments is not None and _ARGUMENTS in tool.fields
    return NativeCall(tool.name, {field: skill.name, **({_ARGUMENTS: skill.arguments} if takes else {})})


def _first(tools: Mapping[str, Offered], names: tuple[str, ...]) -> Offered | None:
    return next((tools[name] for name in names if name in tools), None)


def _field(tool: Offered, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in tool.fields), None)


def _takes_relative(tool: Offered, path: str) -> bool:
    """Say whether a path may be relative: several agents ask for absolute ones, but only Qwen Code insists."""
    return _NO_RELATIVE not in text(mapping(tool.fields[path]).get("description"))


def _no_tool(tools: Mapping[str, Offered], does: str, names: tuple[str, ...]) -> NoToolError:
    offers = ", ".join(sorted(tools)) or "none"
    return NoToolError(
        f"the reply {does}, for which the request offers none of {', '.join(names)}; it offers: {offers}"
    )
