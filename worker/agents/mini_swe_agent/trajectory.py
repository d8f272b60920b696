"""What mini-swe-agent's trajectory says (`mini-swe-agent-1.1`, 2.4.6): one JSON document, told when it ends.

An exit code of 0 says nothing: so does a session end that reached its cap. `exit_status` is the word for it. It is
written whenever a step ends, so a session that was stopped says nothing at all.

A cost of 0 is what it writes where it knows no price, so it is none. Usage is that of its library: cached and written
tokens are parts of the prompt's.
"""

from decimal import Decimal

from pydantic import JsonValue

from farm.model import MIB, ProcessExit, SessionReport, Usage, known_sum
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.ending import Heard, ending
from worker.agents.tail import Tail, beginning
from worker.agents.totals import ToolCalls, summed
from worker.documents import DocumentError, one_document

MOST_BYTES = 8 * MIB
_FORMAT = "mini-swe-agent-1.1"
_SUBMITTED = "Submitted"

_Object = dict[str, JsonValue]


class MiniSweParser:
    """Reads one session."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._whole = bytearray()
        self._is_too_long = False
        self._stderr = Tail()

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self._stderr.feed(chunk)
        elif len(self._whole) + len(chunk) > MOST_BYTES:
            self._is_too_long = True
            self._whole.clear()
        elif not self._is_too_long:
            self._whole += chunk

    def finish(self, exit_: ProcessExit) -> SessionReport:
        said, problem = _Said(), None
        try:
            said = self._read()
        except DocumentError as error:
            problem = f"the trajectory can't be read: {error}"
        heard = said.heard(problem, self._stderr.text)
        end = ending(exit_, heard)
        is_whole = heard.is_whole
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            turns=said.turns if is_whole else None,
            tool_calls=said.calls.by_name if is_whole else None,
            usage=summed(said.usages) if is_whole else None,
            cost_usd=said.cost if is_whole else None,
            model=said.model,
        )

    def _read(self) -> "_Said":
        if self._is_too_long:
            raise DocumentError(f"it is longer than {MOST_BYTES} bytes")
        said = _Said()
        if not self._whole.strip():
            return said
        trajectory = one_document(bytes(self._whole))
        if not isinstance(trajectory, dict) or trajectory.get("trajectory_format") != _FORMAT:
            raise DocumentError(f"it is not of the format {_FORMAT}")
        said.take(trajectory)
        return said


class _Said:
    """What is told so far."""

    def __init__(self) -> None:
        self.status: str | None = None
        self.submission: str | None = None
        self.last_words: str | None = None
        self.exception: str | None = None
        self.turns = 0
        self.model: str | None = None
        self.costs: list[Decimal | None] = []
        self.usages: list[Usage] = []
        self.calls = ToolCalls()

    def take(self, trajectory: _Object) -> None:
        info, messages = _object(trajectory.get("info")), trajectory.get("messages")
        self.status, self.submission = fields.text(info.get("exit_status")), fields.answer(info.get("submission"))
        if self.status is None or not isinstance(messages, list):
            raise DocumentError("it has no exit_status, or no messages")
        for message in messages:
            if not isinstance(message, dict):
                raise DocumentError("one of its messages is no object")
            self._take_message(message, _object(message.get("extra")))

    @property
    def cost(self) -> Decimal | None:
        return known_sum(self.costs)

    def heard(self, problem: str | None, stderr: str | None) -> Heard:
        answers = (one.strip() for one in (self.submission, self.last_words, self.status) if one is not None)
        return Heard(
            terminals=1 if self.status is not None else 0,
            answer=next(filter(None, answers), None) if self.status == _SUBMITTED else None,
            stream_problem=problem,
            native_reason=None if self.status == _SUBMITTED else self.status,
            detail=self.exception if self.status is not None else stderr,
        )

    def _take_message(self, message: _Object, extra: _Object) -> None:
        response = extra.get("response")
        self.turns += response is not None  # its own count holds calls that were never answered
        if isinstance(response, dict):
            self.model = fields.text(response.get("model")) or self.model
            self.usages.append(_usage(_object(response.get("usage"))))
            self.costs.append(fields.cost(extra.get("cost")) or None)
        if message.get("role") == "assistant":
            self.last_words = fields.answer(message.get("content")) or self.last_words
            self._count_calls(message.get("tool_calls"))
        if message.get("role") == "exit":
            self.exception = beginning(fields.answer(extra.get("exception_str")))

    def _count_calls(self, calls: JsonValue) -> None:
        for call in calls if isinstance(calls, list) else ():
            problem = self.calls.count(fields.text(_object(_object(call).get("function")).get("name")))
            if problem is not None:
                raise DocumentError(problem)


def _usage(value: _Object) -> Usage:
    prompt, completion = _object(value.get("prompt_tokens_details")), _object(value.get("completion_tokens_details"))
    written = (fields.count(prompt.get(key)) for key in ("cache_creation_tokens", "cache_write_tokens"))
    return Usage(
        input_tokens=fields.count(value.get("prompt_tokens")),
        cached_input_tokens=fields.count(prompt.get("cached_tokens")),
        cache_write_tokens=next((count for count in written if count is not None), None),
        output_tokens=fields.count(value.get("completion_tokens")),
        thinking_tokens=fields.count(completion.get("reasoning_tokens")),
    )


def _object(value: JsonValue) -> _Object:
    return value if isinstance(value, dict) else {}
