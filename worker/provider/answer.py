"""An answer before it takes the form of a wire, and the protocol of those forms."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from worker.provider.asked import Asked, Json
from worker.provider.script import DeclaredUsage, Refusal, Stop


class UnreadableError(Exception):
    """The request is not what its wire says."""


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A tool call in the agent's own terms."""

    tool: str
    input: dict[str, JsonValue] | str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says."""

    key: str
    """Unique: the ids of the answer and of its calls are made of it."""
    created: int
    """Seconds since 1970."""
    model: str
    text: str | None
    calls: tuple[NativeCall, ...]
    stop: Stop
    usage: JsonValue
    """The wire's own form; None: none is stated."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream."""

    data: str
    name: str | None = None

    def encode(self, eol: str) -> bytes:
        head = "" if self.name is None else f"event: {self.name}{eol}"
        return f"{head}data: {self.data}{eol}{eol}".encode()


class Dialect(Protocol):
    """How one wire says it all."""

    eol: str
    """What ends a line of a stream."""
    id_header: str | None
    """The header with an answer's id, where there is one."""

    def read(self, path: str, query: Mapping[str, str], body: Json) -> Asked:
        """Read a request; raises UnreadableError."""
        ...

    def usage(self, declared: DeclaredUsage) -> dict[str, JsonValue]:
        """Give the numbers that are declared and that this wire has."""
        ...

    def whole(self, answer: Answer) -> dict[str, JsonValue]:
        """Give the body of an answer that is not streamed."""
        ...

    def frames(self, answer: Answer, asked: Asked) -> tuple[Frame, ...]:
        """Give the events of an answer that is."""
        ...

    def error(self, refusal: Refusal) -> dict[str, JsonValue]:
        """Give the body of an error."""
        ...

    def error_frame(self, refusal: Refusal) -> Frame:
        """Give the event that tells an error in a stream."""
        ...


def dumped(value: JsonValue) -> str:
    """Write JSON as providers do: no spaces, no escapes of letters."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def stated(**numbers: JsonValue) -> dict[str, JsonValue]:
    """Give what is known, and nothing of what is not."""
    return {name: number for name, number in numbers.items() if number is not None}


def whole_input(declared: DeclaredUsage) -> int | None:
    """Give all input: as it is declared, or the sum of its declared parts if the ordinary one is among them."""
    if declared.whole is not None or declared.ordinary_input is None:
        return declared.whole
    return declared.ordinary_input + (declared.cache_read or 0) + (declared.cache_write or 0)


def added(one: int | None, other: int | None) -> int | None:
    """Add two numbers that are both known."""
    return None if one is None or other is None else one + other


def split_text(whole: str) -> tuple[str, ...]:
    """Split a text in two, so that a stream has more than one piece of it."""
    half = len(whole) // 2
    return tuple(part for part in (whole[:half], whole[half:]) if part)
