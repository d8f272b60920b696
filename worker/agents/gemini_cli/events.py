"""What Gemini CLI's stream of events says (`--output-format stream-json`, 0.61.0).

Read strictly: every line is one JSON object of a known type, and exactly one of them, the last, is the result. An exit
code of 0 without one is the end by a signal. A provider's refusal has no word but the exit code: the status, less 256.

Its totals: the output is without what it thought, which is in the whole alone. They are kept by the model that
answered, which may go by another name than the one that was asked, so only the sum over all is taken. A session without
an answer states 0, where it should state nothing.
"""

from pydantic import JsonValue

from farm.model import ProcessExit, SessionReport, Usage
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.skill import SkillProof
from worker.agents.tail import Tail, beginning, preview
from worker.agents.totals import ToolCalls
from worker.session import SessionProgress

_SKILL = "activate_skill"
_STATUSES = {status % 256: status for status in (400, 401, 403, 404, 408, 429, 500, 502, 503, 504, 529)}

_Object = dict[str, JsonValue]


class GeminiCliParser:
    """Reads one session."""

    def __init__(self, name: str, required_skill: str | None = None) -> None:
        self._name = name
        self._skill = None if required_skill is None else SkillProof(required_skill)
        self._lines = JsonLines()
        self._stderr = Tail()
        self._results: list[_Object] = []
        self._init: _Object = {}
        self._answer: list[str] = []
        self._error: str | None = None
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
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            tool_calls=self._calls.by_name if heard.is_whole else None,
            usage=_usage(self._results[-1].get("stats")) if heard.is_whole else None,
            model=fields.text(self._init.get("model")),
            session_id=fields.text(self._init.get("session_id")),
        )

    def _heard(self, exit_: ProcessExit) -> Heard:
        last = self._results[-1] if self._results else {}
        has_failed = last.get("status") != "success"
        said = last.get("error")
        error = said if isinstance(said, dict) else {}
        message = fields.answer(error.get("message"))
        return Heard(
            terminals=len(self._results),
            answer=None if has_failed else "".join(self._answer),
            stream_problem=self._lines.problem or self._problem,
            native_reason=_reason(error, exit_) if has_failed else None,
            has_error_flag=has_failed,
            detail=beginning(message) or self._error or self._stderr.text,
            skill=None if self._skill is None else self._skill.use,
        )

    def _take(self, events: tuple[_Object, ...]) -> None:
        for event in events:
            kind = event.get("type")
            if self._results and kind != "result":
                self._fault(f"an event of the type {kind!r} after the result")
            else:
                self._take_one(event, kind)

    def _take_one(self, event: _Object, kind: JsonValue) -> None:
        match kind:
            case "init":
                self._init = self._init or event
            case "message":
                self._take_message(event)
            case "tool_use":
                self._take_call(event)
            case "tool_result":
                if self._skill is not None:
                    self._skill.answer(event.get("tool_id"), event.get("status") != "success")
            case "error":
                self._error = beginning(fields.answer(event.get("message")))
            case "result":
                self._results.append(event)
            case _:
                self._fault(f"an event of the unknown type {kind!r}")

    def _take_call(self, event: _Object) -> None:
        self._answer = []
        name, asked = event.get("tool_name"), event.get("parameters")
        self._last = preview(name, asked)
        problem = self._calls.count(fields.text(name))
        if problem is not None:
            self._fault(problem)
        if self._skill is not None and name == _SKILL and isinstance(asked, dict):
            self._skill.call(event.get("tool_id"), asked.get("name"))

    def _take_message(self, event: _Object) -> None:
        text = fields.answer(event.get("content"))
        if event.get("role") == "assistant" and text is not None:
            self._answer.append(text)
            self._last = preview(text)

    def _fault(self, problem: str) -> None:
        self._problem = self._problem or problem


def _reason(error: _Object, exit_: ProcessExit) -> str | None:
    """Give its own word for a failure, or the provider's status; None where it has neither."""
    word = fields.text(error.get("type"))
    if word not in {None, "unknown"}:
        return word
    status = _STATUSES.get(exit_.code or 0)
    return None if status is None else f"http_{status}"


def _usage(value: JsonValue) -> Usage | None:
    if not isinstance(value, dict) or not value.get("total_tokens"):
        return None
    whole, given = fields.count(value.get("total_tokens")), fields.count(value.get("input_tokens"))
    spoken = fields.count(value.get("output_tokens"))
    output = whole - given if whole is not None and given is not None and whole >= given else None
    return Usage(
        input_tokens=given,
        cached_input_tokens=fields.count(value.get("cached")),
        output_tokens=output,
        thinking_tokens=output - spoken if output is not None and spoken is not None and output >= spoken else None,
    )
