"""The agent `command`: any headless command line, by template.

For example a CLI that prints one JSON document when it is done:

    agent:
      kind: command
      argv: [some-cli, --print, --output-format, json]
      instructions: argv          # its --append-system-prompt takes {instructions}
      answer: {from: json, pointer: /result}
      reason: {pointer: /subtype}
      error: {pointer: /is_error}
      usage: {input_tokens: /usage/input_tokens, output_tokens: /usage/output_tokens}
      cost: {pointer: /total_cost_usd}

The program must stand where the sandbox sees it (the host's /usr). It has no network; with `wire`, and an arm that
names a provider, one door to that provider.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from farm.model import ExitReason, ProcessExit, RelativePath, SessionReport, Usage, Value, Wire
from sandbox.spec import Stream
from worker.agents import fields
from worker.agents.ending import Heard, ending
from worker.agents.lines import JsonLines
from worker.agents.tail import beginning
from worker.documents import DocumentError, at_pointer, one_document
from worker.options import checked
from worker.session import AgentProgram, Launch, SessionRequest

Pointer = Annotated[str, Field(pattern=r"^(/[^/]*)+$", max_length=200)]
"""A JSON pointer (RFC 6901) into the terminal event."""

_PROMPT = "{prompt}"
_INSTRUCTIONS = "{instructions}"


class At(Value):
    """Where a value stands in the terminal event."""

    pointer: Pointer


class AnswerPlace(Value):
    """Where the final answer and the terminal event are found on standard output."""

    source: Literal["stdout", "json", "json-lines"] = Field(default="stdout", alias="from")
    """`stdout`: all of it is the answer, and its end is the terminal event. `json`: it is one document, the terminal
    event. `json-lines`: one event a line, of which the one with `value` at `terminal` ends the session."""
    pointer: Pointer | None = None
    """The answer within the terminal event; needed for `json` and `json-lines`."""
    terminal: Pointer = "/type"
    value: str = "result"

    @model_validator(mode="after")
    def _pointer_when_json(self) -> Self:
        if (self.source == "stdout") != (self.pointer is None):
            raise ValueError("an answer from json or json-lines needs a pointer, and one from stdout takes none")
        return self


class UsagePlaces(Value):
    """Where the native usage stands; what is left out stays unknown."""

    input_tokens: Pointer | None = None
    cached_input_tokens: Pointer | None = None
    cache_write_tokens: Pointer | None = None
    output_tokens: Pointer | None = None
    thinking_tokens: Pointer | None = None


class CommandOptions(Value):
    """The template."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    """`{prompt}` and `{instructions}` stand for the texts, as whole words or inside one."""
    env: dict[str, str] = {}
    prompt: Literal["stdin", "argv"] = "stdin"
    instructions: Annotated[str, Field(pattern=r"^(prompt|argv|file:.+)$")] = "prompt"
    """`prompt`: after the prompt and a blank line; `argv`: where `{instructions}` stands; `file:<path>`: a file below
    the private home that the CLI reads by itself."""
    answer: AnswerPlace = AnswerPlace()
    usage: UsagePlaces | None = None
    reason: At | None = None
    """The CLI's own word for how it ended; anything but `success` is a problem."""
    error: At | None = None
    """A flag that is true when the CLI failed."""
    turns: At | None = None
    cost: At | None = None
    model: At | None = None
    session: At | None = None
    wire: Wire | None = None
    """The CLI asks a model, by this wire, at http://127.0.0.1:8080: its arm names a provider."""
    exit_code: Annotated[int, Field(ge=0, le=255)] = 0
    """What the CLI exits with when all is well."""

    @model_validator(mode="after")
    def _placeholders_stand(self) -> Self:
        for name, placeholder in (("prompt", _PROMPT), ("instructions", _INSTRUCTIONS)):
            stands = any(placeholder in word for word in self.argv)
            if stands != (getattr(self, name) == "argv"):
                raise ValueError(f"`{name}: argv` and {placeholder!r} in argv go together")
        if self.instructions.startswith("file:"):
            RelativeFile(path=self.instructions.removeprefix("file:"))
        return self


class RelativeFile(Value):
    """A path below the home."""

    path: RelativePath


class CommandAgent:
    """Starts the template's program and reads its standard output."""

    version = "1"
    program: AgentProgram | None = None
    assets: tuple[str, ...] = ()

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._options = checked(CommandOptions, options, "agent 'command'")
        self.options: dict[str, JsonValue] = self._options.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.wires: tuple[Wire, ...] = () if self._options.wire is None else (self._options.wire,)

    def launch(self, request: SessionRequest) -> Launch:
        options, instructions = self._options, request.instructions or ""
        prompt = request.prompt
        if options.instructions == "prompt" and instructions:
            prompt = f"{prompt}\n\n{instructions}"
        texts = {_PROMPT: prompt, _INSTRUCTIONS: instructions}
        home_files: dict[str, bytes] = {}
        if options.instructions.startswith("file:") and instructions:
            home_files[options.instructions.removeprefix("file:")] = instructions.encode()
        return Launch(
            argv=tuple(_filled(word, texts) for word in options.argv),
            env=options.env,
            stdin=prompt.encode() if options.prompt == "stdin" else b"",
            home_files=home_files,
        )

    def parser(self, name: str) -> "CommandParser":
        return CommandParser(name, self._options)


class CommandParser:
    """Reads standard output as the template says."""

    def __init__(self, name: str, options: CommandOptions) -> None:
        self._name = name
        self._options = options
        self._whole = bytearray()
        self._lines = JsonLines()
        self._terminals: list[dict[str, JsonValue]] = []

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is not Stream.STDOUT:
            return
        if self._options.answer.source == "json-lines":
            self._take(self._lines.feed(chunk))
        else:
            self._whole += chunk  # bounded by the sandbox's output limit

    def finish(self, exit_: ProcessExit) -> SessionReport:
        heard = self._heard()
        end = ending(exit_, heard, self._options.exit_code)
        return SessionReport(
            name=self._name,
            exit=exit_,
            reason=end.reason,
            problem=end.problem,
            final_answer=heard.answer,
            turns=fields.count(self._at(self._options.turns)) if heard.is_whole else None,
            usage=self._usage() if heard.is_whole else None,
            cost_usd=fields.cost(self._at(self._options.cost)) if heard.is_whole else None,
            model=fields.text(self._at(self._options.model)),
            session_id=fields.text(self._at(self._options.session)),
        )

    def _heard(self) -> Heard:
        match self._options.answer.source:
            case "stdout":
                return self._heard_text()
            case "json":
                return self._heard_document()
            case "json-lines":
                self._take(self._lines.close())
                return self._heard_events(self._lines.problem)

    def _take(self, events: tuple[dict[str, JsonValue], ...]) -> None:
        place = self._options.answer
        self._terminals += [event for event in events if at_pointer(event, place.terminal) == place.value]

    def _heard_text(self) -> Heard:
        try:
            return Heard(terminals=1, answer=self._whole.decode().strip())
        except UnicodeDecodeError as error:
            return Heard(terminals=1, answer=None, stream_problem=f"standard output is not UTF-8: {error}")

    def _heard_document(self) -> Heard:
        if not self._whole.strip():
            return self._heard_events(None)
        try:
            document = one_document(bytes(self._whole))
        except DocumentError as error:
            return self._heard_events(f"standard output is not one JSON document: {error}")
        if not isinstance(document, dict):
            return self._heard_events("standard output is no JSON object")
        self._terminals.append(document)
        return self._heard_events(None)

    def _heard_events(self, problem: str | None) -> Heard:
        place = self._options.answer
        last = self._terminals[-1] if self._terminals else {}
        flag, reason = self._at(self._options.error), fields.text(self._at(self._options.reason))
        has_error_flag = flag is not None and flag is not False
        has_failed = has_error_flag or reason not in {None, ExitReason.SUCCESS}
        said = fields.answer(at_pointer(last, place.pointer)) if place.pointer else None
        return Heard(
            terminals=len(self._terminals),
            answer=None if has_failed else said,
            stream_problem=problem,
            native_reason=reason,
            has_error_flag=has_error_flag,
            detail=beginning(said) if has_failed else None,
        )

    def _at(self, place: At | None) -> JsonValue:
        return at_pointer(self._terminals[-1], place.pointer) if place is not None and self._terminals else None

    def _usage(self) -> Usage | None:
        places = self._options.usage
        if places is None or not self._terminals:
            return None
        found: dict[str, int | None] = {}
        for name in UsagePlaces.model_fields:
            pointer: str | None = getattr(places, name)
            found[name] = fields.count(at_pointer(self._terminals[-1], pointer)) if pointer else None
        return Usage(**found)


def _filled(word: str, texts: dict[str, str]) -> str:
    """Put the texts in place of their marks, in one pass: a text that holds a mark is not filled again."""
    for mark, text in texts.items():
        if mark in word:
            before, _, after = word.partition(mark)
            return f"{_filled(before, texts)}{text}{_filled(after, texts)}"
    return word
