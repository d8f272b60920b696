"""What Codex's stream of events says (`codex exec --json`, 0.171.0).

Read strictly: every line is one JSON object of a known type, and exactly one of them ends the turn, as the last of
all. Kinds of things within a turn (`item.*`) are an open number: those that are no speech are counted as tool calls by
their kind. An `error` event is no end: Codex says so that it reconnects. Nor is a thing of the kind `error`: a turn
that completes has one where the model is not in the catalogue.

Model, cost and number of requests are nowhere in it; a turn that failed states no usage. The door knows them all.
"""

import re
from dataclasses import dataclass

from pydantic import JsonValue

from farm.model import ProcessExit, SessionReport, Usage
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.calls import CallLog
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.skill import SkillUse
from worker.agents.tail import Tail, beginning, preview
from worker.phases import ToolCall
from worker.session import SessionProgress

_MOST_TOOLS = 1000
_SPEECH = frozenset({"agent_message", "reasoning", "todo_list", "error"})
_COMPLETED = "turn.completed"
_FAILED = "turn.failed"


class CodexParser:
    """Reads one session."""

    def __init__(self, name: str, required_skill: str | None) -> None:
        self._name = name
        self._skill = None if required_skill is None else _reading(required_skill)
        self._has_read_skill = False
        self._lines = JsonLines()
        self._stderr = Tail()
        self._ends: list[dict[str, JsonValue]] = []
        self._thread: str | None = None
        self._answer: str | None = None
        self._error: str | None = None
        self._tool_calls: dict[str, int] = {}
        self._calls = CallLog()
        self._last = ""
        self._problem: str | None = None

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self._stderr.feed(chunk)
        else:
            self._take(self._lines.feed(chunk))

    def progress(self) -> SessionProgress:
        return SessionProgress(None, sum(tuple(self._tool_calls.values())), self._last)

    def calls(self) -> tuple[ToolCall, ...] | None:
        return self._calls.calls()

    def finish(self, exit_: ProcessExit) -> SessionReport:
        self._take(self._lines.close())
        heard = self._heard()
        end = ending(exit_, heard)
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            tool_calls=self._tool_calls if heard.is_whole else None,
            usage=_usage(self._ends[-1].get("usage")) if heard.is_whole else None,
            session_id=self._thread,
        )

    def _heard(self) -> Heard:
        last = self._ends[-1] if self._ends else {}
        has_failed = last.get("type") == _FAILED
        return Heard(
            terminals=len(self._ends),
            answer=self._answer if self._ends and not has_failed else None,
            stream_problem=self._lines.problem or self._problem,
            native_reason="turn_failed" if has_failed else None,
            detail=_message(last.get("error")) or self._error or self._stderr.text,
            skill=self._skill_use(),
        )

    def _skill_use(self) -> SkillUse | None:
        if self._skill is None:
            return None
        return SkillUse.SUCCEEDED if self._has_read_skill else SkillUse.NOT_INVOKED

    def _take(self, events: tuple[dict[str, JsonValue], ...]) -> None:
        for event in events:
            kind = event.get("type")
            if self._ends and kind not in {_COMPLETED, _FAILED}:
                self._fault(f"an event of the type {kind!r} after the turn's end")
            else:
                self._take_one(event, kind)

    def _take_one(self, event: dict[str, JsonValue], kind: JsonValue) -> None:
        match kind:
            case "thread.started":
                self._thread = fields.text(event.get("thread_id"))
            case "turn.started" | "item.started" | "item.updated":
                pass
            case "item.completed":
                self._take_item(event.get("item"))
            case "error":
                self._error = _message(event)
            case "turn.completed" | "turn.failed":
                self._ends.append(event)
            case _:
                self._fault(f"an event of the unknown type {kind!r}")

    def _take_item(self, item: JsonValue) -> None:
        kind = fields.text(item.get("type")) if isinstance(item, dict) else None
        if kind is None or not isinstance(item, dict):
            self._fault("an item.completed event without an item of a type")
        elif kind == "agent_message":
            self._answer = fields.answer(item.get("text"))
            self._last = preview(item.get("text"))
        elif kind not in _SPEECH:
            name, went_well = _tool(kind, item), item.get("status") == "completed" and item.get("exit_code", 0) == 0
            self._count(name)
            self._calls.call(item.get("id"), name, _arguments(item))
            self._calls.answer(item.get("id"), succeeded=went_well)
            self._last = preview(kind, item.get("command"))
            if kind == "command_execution" and went_well and "exit_code" in item:
                self._look_for_skill(item.get("command"), item.get("aggregated_output"))

    def _count(self, kind: str) -> None:
        if kind not in self._tool_calls and len(self._tool_calls) >= _MOST_TOOLS:
            self._fault("tool calls of too many kinds")
            return
        self._tool_calls[kind] = self._tool_calls.get(kind, 0) + 1

    def _look_for_skill(self, command: JsonValue, output: JsonValue) -> None:
        if self._skill is not None and isinstance(command, str) and isinstance(output, str):
            self._has_read_skill = self._has_read_skill or self._skill.is_read_by(command, output)

    def _fault(self, problem: str) -> None:
        self._problem = self._problem or problem


def _tool(kind: str, item: dict[str, JsonValue]) -> str:
    """Name what was called: a tool of an MCP server by its own name, any other by its kind."""
    server, tool = fields.text(item.get("server")), fields.text(item.get("tool"))
    return f"mcp__{server}__{tool}" if kind == "mcp_tool_call" and server and tool else kind


def _arguments(item: dict[str, JsonValue]) -> JsonValue:
    """Give what a call asked for, without what came of it."""
    return next((item[key] for key in ("command", "arguments", "changes") if key in item), "")


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a command looks that has read a skill: it names the file, and its output holds the skill's own name."""

    place: re.Pattern[str]
    name: re.Pattern[str]

    def is_read_by(self, command: str, output: str) -> bool:
        return self.place.search(command) is not None and self.name.search(output) is not None


def _reading(skill: str) -> _Reading:
    plain = re.escape(skill)
    return _Reading(
        place=re.compile(rf"(?<![\w.-]){plain}/SKILL\.md(?![\w.-])"),
        name=re.compile(rf"^name:\s*[\"']?{plain}[\"']?\s*$", re.MULTILINE),
    )


def _message(event: JsonValue) -> str | None:
    said = event.get("message") if isinstance(event, dict) else None
    return beginning(said) if isinstance(said, str) else None


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(
        input_tokens=fields.count(value.get("input_tokens")),
        cached_input_tokens=fields.count(value.get("cached_input_tokens")),
        cache_write_tokens=fields.count(value.get("cache_write_input_tokens")),
        output_tokens=fields.count(value.get("output_tokens")),
        thinking_tokens=fields.count(value.get("reasoning_output_tokens")),
    )
