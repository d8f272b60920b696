"""A scripted session's steps, and the shell program that they become.

A POSIX shell, not Python: `dash` is up in a millisecond, and the sandbox needs nothing but coreutils.
"""

import json
import shlex
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import KIB, RelativePath, Usage, Value
from sandbox.spec import TOOL

_FLOOD_LINE = json.dumps({"type": "assistant", "text": "x" * 1000})
_STOP_EXIT = 70
SKILL_TOOL = "Skill"
"""By which name a script's skills are denied."""


class Write(Value):
    """Write (or append) text to a file of the workspace, making the folders on the way."""

    path: RelativePath
    text: str


class Delete(Value):
    """Remove a file or a folder of the workspace."""

    path: RelativePath


class Run(Value):
    """Run a shell command in the workspace; the prompt is on its standard input."""

    command: str
    must_succeed: bool = False
    """End the session with exit code 70 and no terminal event when the command fails."""


class ToolRun(Value):
    """Run a shell command as an agent runs a tool: reported as a call, and in the tool room, where no door is."""

    command: str
    name: str = "shell"


class Tool(Value):
    """Report calls of a tool."""

    name: str
    count: Annotated[int, Field(ge=0)] = 1
    arguments: str = ""
    succeeds: bool = True


class SkillCall(Value):
    """Report the call of a skill, and how it was answered."""

    name: str
    succeeds: bool = True


class Answer(Value):
    """The final answer: text as it stands, or a value as JSON."""

    text: str | None = None
    document: JsonValue = Field(default=None, alias="json")


class Crash(Value):
    """End at once: by a signal's name without SIG, or by an exit code."""

    signal: Annotated[str, Field(pattern=r"^[A-Z0-9]{1,10}$")] | None = None
    code: Annotated[int, Field(ge=1, le=255)] = 1


class Flood(Value):
    """Write at least so many bytes to an output; on stdout they are valid events."""

    size_bytes: Annotated[int, Field(gt=0, alias="bytes")]
    stream: Literal["stdout", "stderr"] = "stdout"


class Spawn(Value):
    """Start a daemon in its own session, that outlives its parent unless the sandbox ends it."""

    command: str


class Step(Value):
    """One step: exactly one of these keys."""

    write: Write | None = None
    append: Write | None = None
    delete: Delete | None = None
    run: Run | None = None
    sleep: Annotated[float, Field(ge=0, le=86_400)] | None = None
    say: str | None = None
    tool: Tool | None = None
    tool_run: ToolRun | None = None
    skill: SkillCall | None = None
    usage: Usage | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    """US dollars."""
    answer: Answer | None = None
    reason: Annotated[str, Field(min_length=1)] | None = None
    """The terminal event's reason, in place of `success`; anything else raises its error flag."""
    crash: Crash | None = None
    flood: Flood | None = None
    spawn: Spawn | None = None
    silent: Literal[True] | None = None
    """Exit here with code 0 and no terminal event."""

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if len(self.model_fields_set) != 1:
            keys = ", ".join(sorted(self.model_fields_set)) or "none"
            raise ValueError(f"a step has exactly one key, not {keys}; known are: {', '.join(type(self).model_fields)}")
        return self


Script = tuple[Step, ...]


def runs_tools(script: Script) -> bool:
    """Tell whether a script needs a tool room."""
    return any(step.tool_run is not None for step in script)


def compiled(script: Script, denied: tuple[str, ...] = ()) -> str:
    """Turn a script into a shell program that writes JSON-lines events as a real CLI does.

    A call of a tool that is `denied` is reported as that, and runs nothing.
    """
    lines = [_event({"type": "init", "model": "scripted"})]
    lines += [line for step in script if (line := _denied_line(step, denied) or _line(step))]
    lines.append(_event(_terminal(script)))
    return "\n".join(lines) + "\n"


def _denied_line(step: Step, denied: tuple[str, ...]) -> str | None:
    name = next((call.name for call in (step.tool, step.tool_run) if call is not None), None)
    if step.skill is not None:
        name = SKILL_TOOL
    return _event({"type": "denied", "name": name}) if name is not None and name in denied else None


def _line(step: Step) -> str | None:
    """Give the step's shell line; None for what only shapes the terminal event."""
    for spelled in (_file_line(step), _word_line(step), _command_line(step)):
        if spelled is not None:
            return spelled
    return None


def _file_line(step: Step) -> str | None:
    if step.write is not None:
        return _written(step.write, ">")
    if step.append is not None:
        return _written(step.append, ">>")
    if step.delete is not None:
        return f"rm -rf -- {_quoted_path(step.delete.path)}"
    return None


def _word_line(step: Step) -> str | None:
    if step.say is not None:
        return _event({"type": "assistant", "text": step.say})
    if step.tool is not None:
        return _called(step.tool)
    if step.skill is not None:
        return _event({"type": "skill", "name": step.skill.name, "succeeds": step.skill.succeeds})
    if step.flood is not None:
        lines = step.flood.size_bytes // len(_FLOOD_LINE) + 1
        target = " >&2" if step.flood.stream == "stderr" else ""
        return f"yes {shlex.quote(_FLOOD_LINE)} | head -n {lines}{target}"
    return None


def _command_line(step: Step) -> str | None:
    if step.run is not None:
        ending = f" || exit {_STOP_EXIT}" if step.run.must_succeed else ""
        return f"sh -c {shlex.quote(step.run.command)} >&2{ending}"
    if step.tool_run is not None:
        tool = step.tool_run
        called = _event({"type": "tool_use", "name": tool.name, "count": 1, "arguments": tool.command})
        well, badly = (_event({"type": "tool_result", "succeeded": succeeded}) for succeeded in (True, False))
        return f"{called}\nif {TOOL} sh -c {shlex.quote(tool.command)} >&2; then\n{well}\nelse\n{badly}\nfi"
    if step.spawn is not None:
        return f"setsid sh -c {shlex.quote(step.spawn.command)} </dev/null >/dev/null 2>&1 &"
    if step.sleep is not None:
        return f"sleep {step.sleep:g}"
    if step.crash is not None:
        return f"kill -s {step.crash.signal} $$; sleep 5" if step.crash.signal else f"exit {step.crash.code}"
    return "exit 0" if step.silent else None


def _called(tool: Tool) -> str:
    event: dict[str, JsonValue] = {"type": "tool_use", "name": tool.name, "count": tool.count}
    return _event({**event, "arguments": tool.arguments, "succeeded": tool.succeeds})


def _written(step: Write, redirection: str) -> str:
    folder, slash, _ = step.path.rpartition("/")
    made = f"mkdir -p -- {_quoted_path(folder)} && " if slash else ""
    return f"{made}printf %s {shlex.quote(step.text)} {redirection} {_quoted_path(step.path)}"


def _quoted_path(path: str) -> str:
    return shlex.quote(f"./{path}")


def _event(event: dict[str, JsonValue]) -> str:
    return f"printf '%s\\n' {shlex.quote(json.dumps(event))}"


def _terminal(script: Script) -> dict[str, JsonValue]:
    """Sum what the steps say of the whole session; the last answer counts."""
    event: dict[str, JsonValue] = {"type": "result", "reason": "success", "answer": "done"}
    event["turns"] = sum(any((step.say is not None, step.tool, step.tool_run)) for step in script)
    costs = [step.cost for step in script if step.cost is not None]
    if costs:
        event["cost_usd"] = sum(costs)
    for step in script:
        if step.usage is not None:
            event["usage"] = step.usage.model_dump(mode="json", exclude_none=True)
        if step.reason is not None:
            event["reason"] = step.reason
        if step.answer is not None:
            said = step.answer
            event["answer"] = json.dumps(said.document) if said.text is None else said.text
    return event


MOST_SCRIPT_BYTES = 512 * KIB
