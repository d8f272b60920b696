"""What Claude Code's stream of events says (`--output-format stream-json`, 2.1.332).

Read strictly: every line is one JSON object of a known type, and exactly one of them is the result. Events of the type
`system` are bookkeeping in an open number of kinds, and may come before, between and after all others; the other known
types that say nothing about the outcome are skipped, as long as they come before the result. Any other type, and
anything but bookkeeping after the result, is a fault of the stream: it means that the program is not the one whose
stream this reads, or that something else writes into it.

The result's `subtype` is `success` even where the provider refused; its `is_error` counts, and `api_error_type` or
`terminal_reason` is the word for it. An exit code of 0 says nothing: so end a denied tool and an interrupted answer.
Each content block comes as an event of its own, with a placeholder for usage: only the result's usage is a total.
"""

from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from farm.model import ProcessExit, SessionReport, Usage
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.calls import CallLog
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.skill import SkillProof
from worker.agents.tail import Tail, beginning, preview
from worker.phases import ToolCall
from worker.session import SessionProgress

_MOST_TOOLS = 1000
_SKIPPED = frozenset(
    {
        "active_goal",
        "auth_status",
        "autocompact_state",
        "command_lifecycle",
        "keep_alive",
        "prompt_suggestion",
        "rate_limit_event",
        "stream_event",
        "tool_progress",
        "tool_use_summary",
    }
)
_SYNTHETIC = "<synthetic>"
"""The model of what Claude Code says itself, in the place of an answer that did not come."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the arm pins, and what the stream must therefore say."""

    version: str
    plugins: tuple[str, ...] = ()
    """Folders; one that is not there, or is no plug-in, is passed over in silence."""
    servers: tuple[str, ...] = ()
    """MCP servers; one that does not answer is passed over, too."""
    required_skill: str | None = None


class ClaudeCodeParser:
    """Reads one session."""

    def __init__(self, name: str, expected: Expected) -> None:
        self._name = name
        self._expected = expected
        self._skill = SkillProof(expected.required_skill) if expected.required_skill is not None else None
        self._lines = JsonLines()
        self._stderr = Tail()
        self._results: list[dict[str, JsonValue]] = []
        self._init: dict[str, JsonValue] = {}
        self._answers: set[str] = set()
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
        return SessionProgress(len(self._answers), sum(tuple(self._tool_calls.values())), self._last)

    def calls(self) -> tuple[ToolCall, ...] | None:
        return self._calls.calls()

    def finish(self, exit_: ProcessExit) -> SessionReport:
        self._take(self._lines.close())
        heard = self._heard()
        end = ending(exit_, heard)
        result = self._results[-1] if heard.is_whole else {}
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            turns=len(self._answers) if heard.is_whole else None,
            tool_calls=self._tool_calls if heard.is_whole else None,
            usage=_usage(result.get("usage")),
            cost_usd=_cost(result),
            model=fields.text(self._init.get("model")),
            session_id=fields.text(self._init.get("session_id")),
        )

    def _heard(self) -> Heard:
        last = self._results[-1] if self._results else {}
        has_failed = last.get("is_error") is not False
        return Heard(
            terminals=len(self._results),
            answer=None if has_failed else fields.answer(last.get("result")),
            stream_problem=self._lines.problem or self._problem,
            native_reason=_reason(last),
            has_error_flag=has_failed,
            denied=_denied(last.get("permission_denials")),
            detail=_detail(last) if last else self._stderr.text,
            skill=self._skill.use if self._skill is not None else None,
        )

    def _take(self, events: tuple[dict[str, JsonValue], ...]) -> None:
        for event in events:
            self._take_one(event, event.get("type"))

    def _take_one(self, event: dict[str, JsonValue], kind: JsonValue) -> None:
        if self._results and kind not in {"system", "result"}:
            self._fault(f"an event of the type {kind!r} after the result")
            return
        match kind:
            case "system":
                self._take_system(event)
            case "assistant":
                self._take_answer(event)
            case "user":
                self._take_tool_results(event)
            case "result":
                self._results.append(event)
            case str() if kind in _SKIPPED:
                pass
            case _:
                self._fault(f"an event of the unknown type {kind!r}")

    def _take_system(self, event: dict[str, JsonValue]) -> None:
        if event.get("subtype") != "init" or self._results:
            return
        self._init = self._init or event
        version = event.get("claude_code_version")
        if version != self._expected.version:
            self._fault(f"the stream of Claude Code {version!r}, where the arm pins {self._expected.version}")
        loaded = _paths(event.get("plugins"))
        for place in self._expected.plugins:
            if not any(path == place or path.startswith(f"{place}/") for path in loaded):
                self._fault(f"the plug-in {place} was not loaded: it is no asset of the arm, or no plug-in")
        states = _states(event.get("mcp_servers"))
        for server in self._expected.servers:
            if states.get(server) != "connected":
                self._fault(f"the MCP server {server!r} of the arm is {states.get(server, 'missing')}")

    def _take_answer(self, event: dict[str, JsonValue]) -> None:
        message = event.get("message")
        if not isinstance(message, dict) or message.get("model") == _SYNTHETIC:
            return
        answer = fields.text(message.get("id"))
        if answer is not None and event.get("parent_tool_use_id") is None:
            self._answers.add(answer)
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                self._last = preview(block.get("name"), block.get("input"))
                self._count(block)
            elif block.get("type") == "text":
                self._last = preview(block.get("text"))

    def _count(self, block: dict[str, JsonValue]) -> None:
        name = fields.text(block.get("name"))
        if name is None or (name not in self._tool_calls and len(self._tool_calls) >= _MOST_TOOLS):
            self._fault("a tool call without a name, or of too many names")
            return
        self._tool_calls[name] = self._tool_calls.get(name, 0) + 1
        asked = block.get("input")
        self._calls.call(block.get("id"), name, asked)
        if self._skill is not None and name == "Skill" and isinstance(asked, dict):
            found = (asked[key] for key in ("skill", "command", "name") if isinstance(asked.get(key), str))
            self._skill.call(block.get("id"), next(found, None))

    def _take_tool_results(self, event: dict[str, JsonValue]) -> None:
        message = event.get("message")
        if not isinstance(message, dict):
            return
        for block in _blocks(message):
            if block.get("type") == "tool_result":
                failed = block.get("is_error")
                self._calls.answer(block.get("tool_use_id"), succeeded=failed is None or failed is False)
                if self._skill is not None:
                    self._skill.answer(block.get("tool_use_id"), failed)

    def _fault(self, problem: str) -> None:
        self._problem = self._problem or problem


def _paths(plugins: JsonValue) -> list[str]:
    listed = [each.get("path") for each in plugins if isinstance(each, dict)] if isinstance(plugins, list) else []
    return [path for path in listed if isinstance(path, str)]


def _states(servers: JsonValue) -> dict[str, str]:
    listed = [each for each in servers if isinstance(each, dict)] if isinstance(servers, list) else []
    states = {fields.text(each.get("name")): fields.text(each.get("status")) for each in listed}
    return {name: state for name, state in states.items() if name is not None and state is not None}


def _blocks(message: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _reason(result: dict[str, JsonValue]) -> str | None:
    """Give Claude Code's own word for how it ended; None for success, and where it has none."""
    subtype = fields.text(result.get("subtype"))
    if subtype != "success":
        return subtype
    if result.get("is_error") is not False:
        native = fields.text(result.get("api_error_type")) or fields.text(result.get("terminal_reason"))
        return native if native != "completed" else None
    return None


def _denied(denials: JsonValue) -> str | None:
    if not isinstance(denials, list) or not denials:
        return None
    named = [fields.text(one.get("tool_name")) for one in denials if isinstance(one, dict)]
    return beginning(", ".join(dict.fromkeys(name for name in named if name is not None))) or "of no name"


def _detail(result: dict[str, JsonValue]) -> str | None:
    errors = result.get("errors")
    said = errors[0] if isinstance(errors, list) and errors else result.get("result")
    return beginning(said) if isinstance(said, str) else None


def _cost(result: dict[str, JsonValue]) -> Decimal | None:
    """Give what the program says it cost; None where it knows no price, and takes that of another model."""
    used = result.get("modelUsage")
    by_model = used.values() if isinstance(used, dict) else ()
    if any(isinstance(each, dict) and each.get("costBasis") == "unknown" for each in by_model):
        return None
    return fields.cost(result.get("total_cost_usd"))


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("output_tokens_details")
    return Usage(
        input_tokens=fields.count(value.get("input_tokens")),
        cached_input_tokens=fields.count(value.get("cache_read_input_tokens")),
        cache_write_tokens=fields.count(value.get("cache_creation_input_tokens")),
        output_tokens=fields.count(value.get("output_tokens")),
        thinking_tokens=fields.count(details.get("thinking_tokens")) if isinstance(details, dict) else None,
    )
