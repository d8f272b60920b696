"""What OpenCode's stream of events says (`opencode run --format json`, 1.18.33).

Read strictly: every line is one JSON object of a known type. No event ends the session by itself: it ended well when
the last step ended with the reason `stop`, and badly when an `error` came. An exit code of 0 says nothing: so ends a
session whose tool was refused, with a step that wants the answer of a tool.

A step is one request to the model, and states its tokens in parts that do not overlap; so its output is without what
it thought. Its cost is by prices that it was never told.
"""

from pydantic import JsonValue

from farm.model import ProcessExit, SessionReport, Usage
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.skill import SkillProof
from worker.agents.tail import Tail, beginning, preview
from worker.agents.totals import ToolCalls, summed
from worker.session import SessionProgress

_STOP = "stop"
_WANTS_TOOLS = "tool-calls"
_MOST_LOG = 1 << 16
"""What is kept of the beginning of its log, where it tells what became of servers."""
_UNAVAILABLE = b'message="server unavailable" key=%s '
_REJECTED = "rejected permission"
"""What stands in the error of a tool that was refused."""


class OpencodeParser:
    """Reads one session."""

    def __init__(self, name: str, required_skill: str | None, servers: tuple[str, ...] = ()) -> None:
        self._name = name
        self._servers = servers
        self._log = bytearray()
        self._skill = None if required_skill is None else SkillProof(required_skill)
        self._lines = JsonLines()
        self._stderr = Tail()
        self._session: str | None = None
        self._usages: list[Usage] = []
        self._texts: list[str] = []
        self._reason: str | None = None
        self._error: dict[str, JsonValue] | None = None
        self._calls = ToolCalls()
        self._denied: list[str] = []
        self._last = ""
        self._problem: str | None = None

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self._stderr.feed(chunk)
            self._log += chunk[: _MOST_LOG - len(self._log)]
        else:
            self._take(self._lines.feed(chunk))

    def progress(self) -> SessionProgress:
        return SessionProgress(len(self._usages), self._calls.total, self._last)

    def finish(self, exit_: ProcessExit) -> SessionReport:
        self._take(self._lines.close())
        for server in self._servers:
            if _UNAVAILABLE % server.encode() in self._log:
                self._fault(f"the MCP server {server!r} of the arm did not answer")
        heard = self._heard()
        end = ending(exit_, heard)
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            turns=len(self._usages) if heard.is_whole else None,
            tool_calls=self._calls.by_name if heard.is_whole else None,
            usage=summed(self._usages) if heard.is_whole else None,
            session_id=self._session,
        )

    def _heard(self) -> Heard:
        denied = ", ".join(dict.fromkeys(self._denied))
        native, detail = self._reason, None
        if self._error is not None:
            native, detail = fields.text(self._error.get("name")) or "error", _message(self._error)
        elif self._reason == _WANTS_TOOLS and denied:
            native, detail = "permission_denied", f"it was denied {denied}"
        has_ended = native not in {None, _WANTS_TOOLS}
        return Heard(
            terminals=1 if has_ended else 0,
            answer="\n".join(self._texts) if native == _STOP else None,
            stream_problem=self._lines.problem or self._problem,
            native_reason=None if native == _STOP else native,
            denied=beginning(denied),
            detail=detail or self._stderr.text,
            skill=None if self._skill is None else self._skill.use,
        )

    def _take(self, events: tuple[dict[str, JsonValue], ...]) -> None:
        for event in events:
            self._session = self._session or fields.text(event.get("sessionID"))
            part = event.get("part")
            self._take_one(event, part if isinstance(part, dict) else {})

    def _take_one(self, event: dict[str, JsonValue], part: dict[str, JsonValue]) -> None:
        match event.get("type"):
            case "step_start":
                self._texts, self._reason = [], None
            case "text":
                self._texts.append(fields.answer(part.get("text")) or "")
                self._last = preview(part.get("text"))
            case "reasoning":
                pass
            case "tool_use":
                self._take_tool(part)
            case "step_finish":
                self._reason = fields.text(part.get("reason")) or "unknown"
                self._usages.append(_usage(part.get("tokens")))
            case "error":
                error = event.get("error")
                self._error = error if isinstance(error, dict) else {}
            case other:
                self._fault(f"an event of the unknown type {other!r}")

    def _take_tool(self, part: dict[str, JsonValue]) -> None:
        name, state = fields.text(part.get("tool")), part.get("state")
        problem = self._calls.count(name)
        if problem is not None or name is None or not isinstance(state, dict):
            self._fault(problem or "a tool call without a state")
            return
        self._last = preview(name, state.get("input"))
        error, asked = state.get("error"), state.get("input")
        if isinstance(error, str) and _REJECTED in error:
            self._denied.append(name)
        if self._skill is not None and name == "skill" and isinstance(asked, dict):
            self._skill.call(part.get("callID"), asked.get("name"))
            self._skill.answer(part.get("callID"), state.get("status") != "completed")

    def _fault(self, problem: str) -> None:
        self._problem = self._problem or problem


def _message(error: dict[str, JsonValue]) -> str | None:
    data = error.get("data")
    said = data.get("message") if isinstance(data, dict) else None
    return beginning(said) if isinstance(said, str) else None


def _usage(value: JsonValue) -> Usage:
    tokens = value if isinstance(value, dict) else {}
    cache = tokens.get("cache")
    cached = cache if isinstance(cache, dict) else {}
    spoken, thought = fields.count(tokens.get("output")), fields.count(tokens.get("reasoning"))
    return Usage(
        input_tokens=fields.count(tokens.get("input")),
        cached_input_tokens=fields.count(cached.get("read")),
        cache_write_tokens=fields.count(cached.get("write")),
        output_tokens=None if spoken is None or thought is None else spoken + thought,
        thinking_tokens=thought,
    )
