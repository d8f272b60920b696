"""Anthropic Messages."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from farm.model import Wire
from worker.provider.answer import Answer, Frame, UnreadableError, dumped, split_text, stated
from worker.provider.asked import (
    Asked,
    Json,
    Offered,
    Said,
    Speaker,
    fields_of,
    mapping,
    objects,
    offered,
    text,
    texts,
)
from worker.provider.script import DeclaredUsage, Refusal, Stop

_STOPS = {Stop.DONE: "end_turn", Stop.TOOLS: "tool_use", Stop.LENGTH: "max_tokens", Stop.REFUSED: "refusal"}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Anthropic:
    """POST /v1/messages."""

    eol = "\n"
    id_header: str | None = "request-id"

    def read(self, path: str, query: Mapping[str, str], body: Json) -> Asked:  # noqa: ARG002 (all is in the body)
        if not isinstance(body.get("messages"), list):
            raise UnreadableError("messages: a list is required")
        return Asked(
            wire=Wire.ANTHROPIC,
            model=text(body.get("model")),
            is_streamed=body.get("stream") is True,
            said=(Said(Speaker.INSTRUCTIONS, texts(body.get("system"))), *_said(body.get("messages"))),
            tools=offered(
                Offered(text(tool.get("name")), fields_of(tool.get("input_schema")))
                for tool in objects(body.get("tools"))
            ),
        )

    def usage(self, declared: DeclaredUsage) -> dict[str, JsonValue]:
        hour, write = declared.cache_write_1h, declared.cache_write
        parts: dict[str, JsonValue] | None = None
        if hour is not None:
            five = None if write is None else write - hour
            parts = stated(ephemeral_5m_input_tokens=five, ephemeral_1h_input_tokens=hour)
        return stated(
            input_tokens=declared.ordinary_input,
            cache_creation_input_tokens=write,
            cache_read_input_tokens=declared.cache_read,
            cache_creation=parts,
            output_tokens=declared.output,
        )

    def whole(self, answer: Answer) -> dict[str, JsonValue]:
        stop = _STOPS[answer.stop]
        return {**_opening(answer), "content": _blocks(answer), "stop_reason": stop, **stated(usage=answer.usage)}

    def frames(self, answer: Answer, asked: Asked) -> tuple[Frame, ...]:  # noqa: ARG002 (a stream always states usage)
        start: dict[str, JsonValue] = {**_opening(answer), **stated(usage=_early(answer.usage))}
        delta: JsonValue = {"stop_reason": _STOPS[answer.stop], "stop_sequence": None}
        return (
            _frame("message_start", message=start),
            _frame("ping"),
            *(frame for index, block in enumerate(_blocks(answer)) for frame in _block_frames(index, block)),
            _frame("message_delta", delta=delta, **stated(usage=answer.usage)),
            _frame("message_stop"),
        )

    def error(self, refusal: Refusal) -> dict[str, JsonValue]:
        kind = refusal.type or _ERRORS.get(refusal.status) or _ERRORS[400]
        if refusal.type is None and refusal.status >= 500 and refusal.status not in _ERRORS:  # noqa: PLR2004 (HTTP's own line)
            kind = "api_error"
        return {"type": "error", "error": {"type": kind, "message": refusal.message}}

    def error_frame(self, refusal: Refusal) -> Frame:
        return Frame(dumped(self.error(refusal)), "error")


def _said(messages: JsonValue) -> Iterator[Said]:
    for message in objects(messages):
        content = message.get("content")
        match message.get("role"):
            case "assistant":
                yield Said(Speaker.MODEL, texts(content))
            case "system":
                yield Said(Speaker.INSTRUCTIONS, texts(content))
            case _:
                yield Said(Speaker.USER, texts(content))  # what a tool gave is no text block


def _opening(answer: Answer) -> dict[str, JsonValue]:
    return {
        "id": f"msg_{answer.key}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _early(usage: JsonValue) -> JsonValue:
    """Give what is known of a usage before the first word: the input, and an output that has only begun."""
    if not isinstance(usage, dict):
        return usage
    output = usage.get("output_tokens")
    return {**usage, "output_tokens": min(output, 1)} if isinstance(output, int) else usage


def _blocks(answer: Answer) -> list[JsonValue]:
    said: list[JsonValue] = [] if answer.text is None else [{"type": "text", "text": answer.text}]
    return said + [
        {"type": "tool_use", "id": f"toolu_{answer.key}{number:02}", "name": call.tool, "input": call.input}
        for number, call in enumerate(answer.calls)
    ]


def _block_frames(index: int, block: JsonValue) -> Iterator[Frame]:
    known = mapping(block)
    if known["type"] == "text":
        empty: JsonValue = {"type": "text", "text": ""}
        deltas: list[JsonValue] = [{"type": "text_delta", "text": part} for part in split_text(text(known["text"]))]
    else:
        empty = {**known, "input": {}}
        parts = ("", *split_text(dumped(known["input"])))
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    yield _frame("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _frame("content_block_delta", index=index, delta=delta)
    yield _frame("content_block_stop", index=index)


def _frame(kind: str, **fields: JsonValue) -> Frame:
    return Frame(dumped({"type": kind, **fields}), kind)
