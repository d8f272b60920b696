"""What Qwen Code's stream of events says (`--output-format stream-json`, 0.24.4).

It has the shape of Claude Code's, and another arithmetic: `input_tokens` is the whole of the input, what was read from
the cache included, and what was written to it is lost on every wire. On the wire Gemini `output_tokens` is without what
was thought, which only the total holds. A session that failed states 0 tokens, and the request that failed as a turn:
what it states of its numbers is nothing.

Read strictly: every line is one JSON object of a known type, and one of them is the result. At its caps it ends by an
exit code alone, without one.
"""

from dataclasses import dataclass

from pydantic import JsonValue

from farm.model import ExitKind, ProcessExit, SessionReport, Usage
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.skill import SkillProof
from worker.agents.tail import Tail, beginning, preview
from worker.agents.totals import ToolCalls
from worker.session import SessionProgress

_CAPS = {53: "max_session_turns", 55: "max_tool_calls_or_wall_time"}
"""Exit codes that say which cap was reached."""

_SKILL = "skill"

_Object = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a stream must be."""

    version: str
    servers: tuple[str, ...] = ()
    """MCP servers; no other is started."""
    required_skill: str | None = None


class QwenCodeParser:
    """Reads one session."""

    def __init__(self, name: str, expected: Expected) -> None:
        self._name = name
        self._expected = expected
        self._skill = None if expected.required_skill is None else SkillProof(expected.required_skill)
        self._lines = JsonLines()
        self._stderr = Tail()
        self._results: list[_Object] = []
        self._init: _Object = {}
        self._calls = ToolCalls()
        self._last = ""
        self._problem: str | None = None

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self._stderr.feed(chunk)
        else:
            self._take(self._lines.feed(chunk))

    def progress(self) -> SessionProgress:
        return SessionProgress(None, self._calls.total, self._last)

    def finish(self, exit_: ProcessExit) -> SessionReport:
        self._take(self._lines.close())
        heard = self._heard(exit_)
        end = ending(exit_, heard)
        result = self._results[-1] if self._results and heard.is_whole else {}
        has_failed = result.get("is_error") is not False
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            turns=None if has_failed else fields.count(result.get("num_turns")),
            tool_calls=self._calls.by_name if heard.is_whole else None,
            usage=None if has_failed else _usage(result.get("usage")),
            model=fields.text(self._init.get("model")),
            session_id=fields.text(self._init.get("session_id")),
        )

    def _heard(self, exit_: ProcessExit) -> Heard:
        problem = self._lines.problem or self._problem
        cap = _CAPS.get(exit_.code or 0) if exit_.kind is ExitKind.EXITED else None
        if not self._results and cap is not None:
            return Heard(terminals=1, answer=None, stream_problem=problem, native_reason=cap)
        last = self._results[-1] if self._results else {}
        has_failed = last.get("is_error") is not False
        subtype = fields.text(last.get("subtype"))
        return Heard(
            terminals=len(self._results),
            answer=None if has_failed else fields.answer(last.get("result")),
            stream_problem=problem,
            native_reason=subtype if subtype != "success" else None,
            has_error_flag=has_failed,
            denied=_denied(last.get("permission_denials")),
            detail=_detail(last) if last else self._stderr.text,
            skill=None if self._skill is None else self._skill.use,
        )

    def _take(self, events: tuple[_Object, ...]) -> None:
        for event in events:
            kind = event.get("type")
            if self._results and kind not in {"system", "result"}:
                self._fault(f"an event of the type {kind!r} after the result")
            else:
                self._take_one(event, kind)

    def _take_one(self, event: _Object, kind: JsonValue) -> None:
        match kind:
            case "system":
                self._take_system(event)
            case "assistant":
                self._take_answer(event.get("message"))
            case "user":
                self._take_results(event.get("message"))
            case "stream_event":
                pass
            case "result":
                self._results.append(event)
            case _:
                self._fault(f"an event of the unknown type {kind!r}")

    def _take_system(self, event: _Object) -> None:
        if event.get("subtype") != "init" or self._results:
            return
        self._init = self._init or event
        version = event.get("qwen_code_version")
        if version != self._expected.version:
            self._fault(f"the stream of Qwen Code {version!r}, where the arm pins {self._expected.version}")
        states = {fields.text(one.get("name")): one.get("status") for one in _objects(event.get("mcp_servers"))}
        for server in self._expected.servers:
            if states.get(server) != "connected":
                self._fault(f"the MCP server {server!r} of the arm is {states.get(server, 'missing')}")

    def _take_answer(self, message: JsonValue) -> None:
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                self._take_call(block)
            elif block.get("type") == "text":
                self._last = preview(block.get("text"))

    def _take_call(self, block: _Object) -> None:
        name, asked = block.get("name"), block.get("input")
        self._last = preview(name, asked)
        problem = self._calls.count(fields.text(name))
        if problem is not None:
            self._fault(problem)
        if self._skill is not None and name == _SKILL and isinstance(asked, dict):
            self._skill.call(block.get("id"), asked.get("skill"))

    def _take_results(self, message: JsonValue) -> None:
        for block in _blocks(message):
            if self._skill is not None and block.get("type") == "tool_result":
                self._skill.answer(block.get("tool_use_id"), block.get("is_error"))

    def _fault(self, problem: str) -> None:
        self._problem = self._problem or problem


def _blocks(message: JsonValue) -> tuple[_Object, ...]:
    return _objects(message.get("content")) if isinstance(message, dict) else ()


def _objects(listed: JsonValue) -> tuple[_Object, ...]:
    return tuple(one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()


def _denied(denials: JsonValue) -> str | None:
    if not isinstance(denials, list) or not denials:
        return None
    named = [fields.text(one.get("tool_name")) for one in denials if isinstance(one, dict)]
    return beginning(", ".join(dict.fromkeys(name for name in named if name is not None))) or "of no name"


def _detail(result: _Object) -> str | None:
    error = result.get("error")
    said = error.get("message") if isinstance(error, dict) else None
    return beginning(said) if isinstance(said, str) else None


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, dict):
        return None
    given, whole = fields.count(value.get("input_tokens")), fields.count(value.get("total_tokens"))
    return Usage(
        input_tokens=given,
        cached_input_tokens=fields.count(value.get("cache_read_input_tokens")),
        output_tokens=whole - given if whole is not None and given is not None and whole >= given else None,
    )
