"""A request to a model as rules see it, whichever wire it came by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from pydantic import JsonValue

from farm.model import Wire

Json = Mapping[str, JsonValue]


class Form(Enum):
    """What a tool takes."""

    FIELDS = auto()
    TEXT = auto()


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that the request offers."""

    name: str
    fields: Json
    """The schema of each field."""
    form: Form = Form.FIELDS


class Speaker(Enum):
    """Who said a part of the conversation."""

    INSTRUCTIONS = auto()
    USER = auto()
    MODEL = auto()
    TOOL = auto()


@dataclass(frozen=True, slots=True)
class Said:
    """One part of a conversation, in order."""

    speaker: Speaker
    text: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks."""

    wire: Wire
    model: str
    is_streamed: bool
    said: tuple[Said, ...]
    tools: Mapping[str, Offered]
    wants_usage: bool = True
    """Chat only: a stream states usage when it was asked to."""
    is_sse: bool = True
    """Gemini only: a stream is a JSON list unless it was asked for as events."""

    @property
    def turn(self) -> int:
        """How many answers of the model it holds: runs of what the model said, one after the other."""
        speakers = [part.speaker for part in self.said]
        return sum(
            now is Speaker.MODEL and before is not Speaker.MODEL
            for before, now in zip([None, *speakers], speakers, strict=False)
        )

    def text_of(self, speaker: Speaker) -> str:
        """Give all that one of them said."""
        return "\n".join(part.text for part in self.said if part.speaker is speaker)


def mapping(value: JsonValue) -> Json:
    """Give a JSON object, an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def objects(value: JsonValue) -> list[Json]:
    """Give the objects of a JSON list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def text(value: JsonValue) -> str:
    """Give a string, an empty one for what is none."""
    return value if isinstance(value, str) else ""


def texts(content: JsonValue) -> str:
    """Give the text of a message's content: a string, or parts of which some have a text."""
    if isinstance(content, str):
        return content
    return "\n".join(text(part.get("text")) for part in objects(content))


def offered(tools: Iterable[Offered]) -> dict[str, Offered]:
    """Name tools by their names."""
    return {tool.name: tool for tool in tools}


def fields_of(schema: JsonValue) -> Json:
    """Give the fields of a tool's input schema."""
    return mapping(mapping(schema).get("properties"))
