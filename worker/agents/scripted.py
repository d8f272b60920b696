"""The scripted agent: replays a script, the same way on every host. For tests, demonstrations and benchmarks."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, JsonValue

from farm.errors import SpecError
from farm.model import ProcessExit, SessionReport, Usage, Value, Wire
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.calls import CallLog
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.options import SkillName
from worker.agents.script import MOST_SCRIPT_BYTES, Script, compiled, runs_tools
from worker.agents.skill import SkillProof
from worker.agents.tail import preview
from worker.options import checked
from worker.phases import ToolCall
from worker.session import HOME, AgentProgram, Launch, SessionProgress, SessionRequest

_PROGRAM = ".farm-script.sh"
_ANY_TASK = "*"
_MOST_TOOLS = 1000
_MOST_LOGGED = 10_000


class ScriptedOptions(Value):
    """What each task's session does."""

    scripts: Annotated[dict[str, Script | tuple[Script, ...]], Field(min_length=1)]
    """By task id, `*` for any other task: a list of steps, or a list of such lists, taken in turn by trial.
    `<task>/<session>`, or `*/<session>`, is for one of several sessions alone, and goes before the task's own."""
    denied_tools: tuple[str, ...] = ()
    """Calls of these are reported as denied, and run nothing."""
    required_skill: SkillName | None = None
    """A session that did not use it with success is `skill-not-invoked`."""
    lasting: bool = False
    """Another session may go on with one: by the script that is its own, as any."""


class ScriptedAgent:
    """Replays `scripts`. A task without a script of its own or a `*` ends with a SpecError at its start."""

    version = "1"
    wires: tuple[Wire, ...] = ()
    program: AgentProgram | None = None
    assets: tuple[str, ...] = ()

    def __init__(self, options: dict[str, JsonValue]) -> None:
        found = checked(ScriptedOptions, options, "agent 'scripted'")
        self.options: dict[str, JsonValue] = found.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude_none=True
        )
        denied = found.denied_tools
        self._programs = {task: _programs(task, scripts, denied) for task, scripts in found.scripts.items()}
        self._skill = found.required_skill

    def launch(self, request: SessionRequest) -> Launch:
        task, session = request.task.id, request.name
        keys = (f"{task}/{session}", f"{_ANY_TASK}/{session}", task, _ANY_TASK)
        programs = next((self._programs[key] for key in keys if key in self._programs), None)
        if programs is None:
            raise SpecError(f"the scripted agent has no script for task {request.task.id!r}; add one, or a '*'")
        program = programs[(request.cell.trial - 1) % len(programs)]
        prompt = request.prompt if request.instructions is None else f"{request.prompt}\n\n{request.instructions}"
        return Launch(
            argv=("sh", f"{HOME}/{_PROGRAM}"),
            stdin=prompt.encode(),
            home_files={_PROGRAM: program.text.encode()},
            runs_tools=program.runs_tools,
        )

    def parser(self, name: str) -> "ScriptedParser":
        return ScriptedParser(name, self._skill)


class ScriptedParser:
    """Reads the events that a compiled script writes: init, assistant, tool_use, and one result."""

    def __init__(self, name: str, skill: str | None = None) -> None:
        self._name = name
        self._skill = None if skill is None else SkillProof(skill)
        self._skills = 0
        self._denied: list[str] = []
        self._lines = JsonLines()
        self._terminals: list[dict[str, JsonValue]] = []
        self._model: str | None = None
        self._tool_calls: dict[str, int] = {}
        self._calls = CallLog()
        self._running = 0
        self._last = ""
        self._problem: str | None = None

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDOUT:
            self._take(self._lines.feed(chunk))

    def progress(self) -> SessionProgress:
        return SessionProgress(None, sum(tuple(self._tool_calls.values())), self._last)

    def calls(self) -> tuple[ToolCall, ...] | None:
        return self._calls.calls()

    def finish(self, exit_: ProcessExit) -> SessionReport:
        self._take(self._lines.close())
        last = self._terminals[-1] if self._terminals else {}
        reason = fields.text(last.get("reason"))
        heard = Heard(
            terminals=len(self._terminals),
            answer=fields.answer(last.get("answer")),
            stream_problem=self._lines.problem or self._problem,
            native_reason=reason,
            has_error_flag=bool(self._terminals) and reason != "success",
            denied=", ".join(dict.fromkeys(self._denied)) or None,
            skill=None if self._skill is None else self._skill.use,
        )
        end = ending(exit_, heard)
        totals = last if heard.is_whole else {}
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            turns=fields.count(totals.get("turns")),
            tool_calls=self._tool_calls if heard.is_whole else None,
            usage=_usage(totals.get("usage")),
            cost_usd=fields.cost(totals.get("cost_usd")),
            model=self._model,
        )

    def _take(self, events: tuple[dict[str, JsonValue], ...]) -> None:
        for event in events:
            match event.get("type"):
                case "init":
                    self._model = fields.text(event.get("model"))
                case "assistant":
                    self._last = preview(event.get("text"))
                case "tool_use":
                    self._count(event)
                case "tool_result":
                    self._calls.answer(f"{self._running}", succeeded=event.get("succeeded") is True)
                case "skill":
                    self._take_skill(event)
                case "denied":
                    self._denied.append(fields.text(event.get("name")) or "?")
                case "result":
                    self._terminals.append(event)
                case other:
                    self._problem = self._problem or f"an event of the unknown type {other!r}"

    def _take_skill(self, event: dict[str, JsonValue]) -> None:
        self._skills += 1
        if self._skill is not None:
            self._skill.call(f"{self._skills}", event.get("name"))
            self._skill.answer(f"{self._skills}", event.get("succeeds") is not True)

    def _count(self, event: dict[str, JsonValue]) -> None:
        name, calls = fields.text(event.get("name")), fields.count(event.get("count"))
        if name is None or calls is None or len(self._tool_calls) >= _MOST_TOOLS:
            self._problem = self._problem or "a tool_use event without a name and a count"
            return
        self._tool_calls[name] = self._tool_calls.get(name, 0) + calls
        for _ in range(min(calls, _MOST_LOGGED)):
            self._running += 1
            self._calls.call(f"{self._running}", name, event.get("arguments", ""))
            if "succeeded" in event:
                self._calls.answer(f"{self._running}", succeeded=event["succeeded"] is True)
        self._last = name


@dataclass(frozen=True, slots=True)
class _Program:
    text: str
    runs_tools: bool


def _programs(task: str, scripts: Script | tuple[Script, ...], denied: tuple[str, ...]) -> tuple[_Program, ...]:
    several = tuple(one for one in scripts if isinstance(one, tuple))
    one = tuple(step for step in scripts if not isinstance(step, tuple))
    programs = tuple(_Program(compiled(script, denied), runs_tools(script)) for script in several or (one,))
    for program in programs:
        if len(program.text.encode()) > MOST_SCRIPT_BYTES or "\0" in program.text:
            raise SpecError(f"the script of task {task!r} is over {MOST_SCRIPT_BYTES} bytes or holds a NUL")
    return programs


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(**{name: fields.count(value.get(name)) for name in Usage.model_fields})
