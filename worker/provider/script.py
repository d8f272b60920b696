"""The script of a provider: which request gets which reply. `ops/provider.md` is its reference for people.

What must stay true: a reply holds what the script declares and nothing else. A number that is not declared is not on
the wire.
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from farm.model import RelativePath, Value, Wire

Seconds = Annotated[float, Field(ge=0, le=86_400)]
Count = Annotated[int, Field(strict=True, ge=0)]


def _several(value: object) -> object:
    """Take one of a kind for a list of one."""
    return value if isinstance(value, list | tuple) else [value]


class When(Value):
    """What a request must be for a rule to apply; what is left out may be anything."""

    prompt: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()
    """Texts that all stand in what the user said: a task's marker, or a phrase of its prompt."""
    instructions: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()
    """Texts that all stand in the system's or the developer's instructions."""
    wire: Annotated[tuple[Wire, ...], BeforeValidator(_several)] = ()
    """One of these."""
    model: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()
    """A shell pattern that the model's name matches, or several of which it matches one."""
    turn: Annotated[tuple[Count, ...], BeforeValidator(_several)] = ()
    """How many answers of the model the conversation holds already, or several such numbers."""
    streamed: bool | None = None
    offers_tools: bool | None = None
    """False: a side request, as for a title."""


class Write(Value):
    """Write a file of the workspace, by the agent's own tool or, where it has none for that, by its shell."""

    path: RelativePath
    text: str


class Run(Value):
    """Run a shell command."""

    command: str


class Skill(Value):
    """Invoke a skill by its name."""

    name: str
    arguments: str | None = None
    """For agents whose skills take some."""


class Call(Value):
    """Call a tool by the name that the agent gives it."""

    name: str
    input: dict[str, JsonValue] | str
    """Fields, or the text of a tool that takes free text."""


class Act(Value):
    """One tool call: exactly one of the four."""

    write: Write | None = None
    run: Run | None = None
    skill: Skill | None = None
    call: Call | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if sum(each is not None for each in (self.write, self.run, self.skill, self.call)) != 1:
            raise ValueError("a tool call is exactly one of write, run, skill and call")
        return self


class Stop(StrEnum):
    """Why the model stopped."""

    DONE = "done"
    TOOLS = "tools"
    LENGTH = "length"
    REFUSED = "refused"


class DeclaredUsage(Value):
    """The usage that a reply states, in the normal form of `farm.model.TokenUse`; what is left out is not stated."""

    whole: Count | None = None
    """All input, on the wires that state it; left out: the sum of the three, if `ordinary_input` is declared."""
    ordinary_input: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    cache_write_1h: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    raw: dict[Wire, JsonValue] = {}
    """By wire, the native usage as it stands; goes before all that is above."""

    @model_validator(mode="after")
    def _holds_its_parts(self) -> Self:
        for part, whole in (("cache_write_1h", "cache_write"), ("reasoning", "output")):
            least, most = getattr(self, part), getattr(self, whole)
            if least is not None and most is not None and least > most:
                raise ValueError(f"{part} {least} is a part of {whole} {most}; what contradicts itself goes into raw")
        return self


class Refusal(Value):
    """An answer with an error's status."""

    status: Annotated[int, Field(ge=400, le=599)]
    message: str = "the script says so"
    type: str | None = None
    """The wire's own word for the error; left out: the one that goes with the status."""
    retry_after_s: Seconds | None = None
    body: JsonValue = None
    """The whole body, in place of the wire's own form with `message`: text as it stands, or JSON."""


class StallAt(StrEnum):
    """Where an answer stops coming."""

    HEADERS = "headers"
    STREAM = "stream"


class Stall(Value):
    """A silence."""

    at: StallAt
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    """Left out: for ever, until the client goes."""


class Malformed(StrEnum):
    """What is wrong with a stream."""

    JSON = "json"
    """An event that is no JSON, and the stream's end."""
    CUT = "cut"
    """The connection breaks off in the middle of an event."""
    ERROR = "error"
    """An event that tells an error, in the wire's own form, and the stream's end."""


class Reply(Value):
    """One answer, and how it is sent."""

    text: str | None = None
    """What the model says, before it calls tools."""
    tools: tuple[Act, ...] = ()
    answer: str | None = None
    """In place of both, the session's last word: text, or the command by which mini-swe-agent is told to end."""
    stop: Stop | None = None
    """Left out: `tools` when it calls some, else `done`."""
    usage: DeclaredUsage | None = None
    """null: none at all, whatever `default_usage` says."""
    model: str | None = None
    """The model that answers; left out: the one that was asked."""
    error: Refusal | None = None
    """In place of an answer; with `malformed: error`, what the event within the answer tells."""
    latency_s: Seconds | None = None
    """To wait before the answer; left out: as the script says for all."""
    stall: Stall | None = None
    malformed: Malformed | None = None
    after_events: Count | None = None
    """How much of a stream comes before a stall in it, or before what is malformed; left out: half of it."""
    chunk_bytes: Annotated[int, Field(ge=1)] | None = None
    """Send the body in pieces of this size; left out: event by event."""
    pause_s: Seconds = 0
    """To wait between two pieces."""

    @property
    def is_refusal(self) -> bool:
        """Say whether it is an error from the first, and not one within a stream."""
        return self.error is not None and self.malformed is not Malformed.ERROR

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        says = self.text is not None or bool(self.tools)
        if says + (self.answer is not None) + self.is_refusal != 1:
            raise ValueError("a reply is either text, tools or both, or an answer, or an error")
        if self.is_refusal and (self.malformed or self.stop or self.usage):
            raise ValueError("an error has no stop, no usage and is not malformed; give its body instead")
        return self


class Rule(Value):
    """What is replied to some requests."""

    name: str | None = None
    """For the record of requests."""
    when: When = When()
    times: Annotated[int, Field(ge=1)] | None = None
    """Apply to so many requests, and to no more until the provider is started again."""
    reply: Reply | None = None
    turns: Annotated[tuple[Reply, ...], Field(min_length=1)] | None = None
    """In place of `reply`: the replies of a conversation by its turn, the last one for every turn after it."""

    @model_validator(mode="after")
    def _replies(self) -> Self:
        if (self.reply is None) == (self.turns is None):
            raise ValueError("a rule has reply or turns, and not both")
        return self


class Script(Value):
    """The rules in the order in which they are tried: the first that applies is used."""

    default_usage: DeclaredUsage | None = None
    """The usage of replies that do not mention theirs; left out: such replies state none."""
    latency_s: Seconds = 0
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]
