"""What a provider's answer says of itself, wire by wire: model, id, native usage, and whether that was the last word.

Usage that is not final is kept as it was seen and counts for nothing: a stream that broke off used more than it said.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from farm.model import RequestEnd, UsageShape, Wire
from worker.gateway.failures import end_of_told, read_error

_MOST_NATIVE = 16384
_MOST_WORD = 256
_ORDINARY = {
    "service_tier": {"auto", "default", "standard"},
    "speed": {"standard"},
    "inference_geo": {"", "global", "not_available"},
}
"""How an answer is served at the price of the table."""

SHAPES = {
    Wire.ANTHROPIC: UsageShape.ANTHROPIC,
    Wire.RESPONSES: UsageShape.RESPONSES,
    Wire.CHAT: UsageShape.CHAT,
    Wire.GEMINI: UsageShape.GEMINI,
}


@dataclass(slots=True)
class Seen:
    """What was read of one answer so far."""

    model: str | None = None
    response_id: str | None = None
    usage: dict[str, JsonValue] | None = None
    """One native usage object: of an Anthropic stream, its start with what its deltas replaced."""
    native: list[dict[str, JsonValue]] = field(default_factory=list)
    """The objects that `usage` is made of, verbatim."""
    is_final: bool = False
    """`usage` is the provider's last word."""
    is_complete: bool = False
    """The answer came to the end that its wire has."""
    is_special: bool = False
    """It was served at a price that no table states: another tier, place or speed, or tools that the provider ran."""
    is_malformed: bool = False
    failure: RequestEnd | None = None
    """An error that the answer itself tells, under a status that tells none."""
    message: str | None = None


_Body = Mapping[str, JsonValue]


def read_event(wire: Wire, data: bytes, seen: Seen) -> None:
    """Take one event of a stream."""
    if wire is Wire.CHAT and data.strip() == b"[DONE]":
        seen.is_complete = True
        seen.is_final = seen.usage is not None
        return
    body = _parsed(data)
    if not isinstance(body, dict):
        seen.is_malformed = True
        return
    _EVENTS[wire](body, seen)


def read_whole(wire: Wire, data: bytes, seen: Seen) -> None:
    """Take a whole answer that was not streamed as events."""
    body = _parsed(data)
    parts = body if isinstance(body, list) and wire is Wire.GEMINI else [body]
    for part in parts:
        if isinstance(part, dict):
            _WHOLES[wire](part, seen)
        else:
            seen.is_malformed = True


def end_answer(wire: Wire, seen: Seen) -> None:
    """Take note that the answer has ended: only then Gemini has said its last word, whichever candidates finished."""
    if wire is Wire.GEMINI:
        seen.is_final = seen.is_complete and seen.usage is not None


def _parsed(data: bytes) -> JsonValue:
    try:
        parsed: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return parsed


def _anthropic_event(body: _Body, seen: Seen) -> None:
    match body.get("type"):
        case "message_start":
            message = _object(body, "message")
            _tell(message, seen, "model", "id")
            _take(seen, message.get("usage"))
        case "message_delta":
            usage = body.get("usage")
            if isinstance(usage, dict):
                start = dict(seen.usage or {})
                seen.native = [*seen.native[:1], usage] if _is_kept(usage) else seen.native[:1]
                _note_service(seen, usage)
                seen.usage = start | {key: value for key, value in usage.items() if value is not None}
                seen.is_final = seen.is_final or _object(body, "delta").get("stop_reason") is not None
        case "message_stop":
            seen.is_complete = True
        case "error":
            _fail(seen, body.get("error"))
        case _:
            pass


def _anthropic_whole(body: _Body, seen: Seen) -> None:
    if body.get("type") == "error":
        _fail(seen, body.get("error"))
        return
    _tell(body, seen, "model", "id")
    _take(seen, body.get("usage"))
    seen.is_final = seen.usage is not None
    seen.is_complete = True


def _responses_event(body: _Body, seen: Seen) -> None:
    kind, response = body.get("type"), _object(body, "response")
    if kind == "error":
        _fail(seen, body.get("error") or dict(body))
    elif kind in ("response.completed", "response.incomplete", "response.failed"):  # a tuple: `kind` may be a list
        _responses_whole(response, seen)
    elif kind == "response.created":
        _tell(response, seen, "model", "id")


def _responses_whole(body: _Body, seen: Seen) -> None:
    _tell(body, seen, "model", "id")
    _take(seen, body.get("usage"))
    is_open = body.get("status") in ("queued", "in_progress")  # answered later, by another way
    seen.is_complete = True
    seen.is_final = seen.usage is not None and not is_open
    if body.get("status") == "failed":
        _fail(seen, body.get("error"))


def _chat_event(body: _Body, seen: Seen) -> None:
    _tell(body, seen, "model", "id")
    if body.get("error") is not None:
        _fail(seen, body["error"])
    usage = body.get("usage")
    if isinstance(usage, dict):
        _take(seen, usage)
        if body.get("choices") == []:  # the chunk that is sent for its usage
            seen.is_final = True


def _chat_whole(body: _Body, seen: Seen) -> None:
    _chat_event(body, seen)
    seen.is_complete = True
    seen.is_final = seen.usage is not None


def _gemini(body: _Body, seen: Seen) -> None:
    _tell(body, seen, "modelVersion", "responseId")
    if body.get("error") is not None:
        _fail(seen, body["error"])
    _take(seen, body.get("usageMetadata"))
    candidates = body.get("candidates")
    ended = (
        [one.get("finishReason") for one in candidates or () if isinstance(one, dict)]
        if isinstance(candidates, list)
        else []
    )
    if any(ended) or _object(body, "promptFeedback").get("blockReason"):
        seen.is_complete = True


_EVENTS: dict[Wire, Callable[[_Body, Seen], None]] = {
    Wire.ANTHROPIC: _anthropic_event,
    Wire.RESPONSES: _responses_event,
    Wire.CHAT: _chat_event,
    Wire.GEMINI: _gemini,
}
_WHOLES: dict[Wire, Callable[[_Body, Seen], None]] = {
    Wire.ANTHROPIC: _anthropic_whole,
    Wire.RESPONSES: _responses_whole,
    Wire.CHAT: _chat_whole,
    Wire.GEMINI: _gemini,
}


def _object(body: _Body, name: str) -> _Body:
    found = body.get(name)
    return found if isinstance(found, dict) else {}


def _tell(body: _Body, seen: Seen, model: str, response_id: str) -> None:
    seen.model = _word(body.get(model)) or seen.model
    seen.response_id = _word(body.get(response_id)) or seen.response_id
    _note_service(seen, body)


def _note_service(seen: Seen, stated: _Body) -> None:
    """Look at how an answer was served, where its body or its usage says so."""
    tools = _object(stated, "server_tool_use")
    seen.is_special = (
        seen.is_special
        or any(isinstance(stated.get(key), str) and stated[key] not in plain for key, plain in _ORDINARY.items())
        or any(isinstance(count, int) and count > 0 for count in tools.values())
    )


def _word(found: JsonValue) -> str | None:
    if not isinstance(found, str) or not found:
        return None
    return found[:_MOST_WORD].encode("utf-8", "backslashreplace").decode()


def _take(seen: Seen, usage: JsonValue) -> None:
    if isinstance(usage, dict):
        _note_service(seen, usage)
        seen.usage = usage
        seen.native = [usage] if _is_kept(usage) else []


def _is_kept(usage: dict[str, JsonValue]) -> bool:
    """Say whether an object fits into the log: neither too large, nor what no JSON can hold."""
    try:
        return len(json.dumps(usage, allow_nan=False, ensure_ascii=False).encode()) <= _MOST_NATIVE
    except (ValueError, RecursionError):
        return False


def _fail(seen: Seen, error: JsonValue) -> None:
    said = read_error(error)
    seen.message = said.message
    seen.failure = end_of_told(said)
