"""OpenAI Responses."""

import itertools
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from farm.model import Wire
from worker.provider.answer import (
    Answer,
    Frame,
    NativeCall,
    UnreadableError,
    added,
    dumped,
    split_text,
    stated,
    whole_input,
)
from worker.provider.asked import (
    Asked,
    Form,
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
from worker.provider.openai_errors import error_body
from worker.provider.script import DeclaredUsage, Refusal, Stop

_INCOMPLETE = {Stop.LENGTH: "max_output_tokens", Stop.REFUSED: "content_filter"}
_DEPTH = 2
"""Namespaces of tools hold tools."""


class Responses:
    """POST /v1/responses."""

    eol = "\n"
    id_header: str | None = "x-request-id"

    def read(self, path: str, query: Mapping[str, str], body: Json) -> Asked:  # noqa: ARG002 (all is in the body)
        given = body.get("input")
        if not isinstance(given, list | str):
            raise UnreadableError("input: text or a list is required")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else objects(given)
        tools = itertools.chain(
            _tools(body.get("tools"), _DEPTH), *(_tools(each.get("tools"), _DEPTH) for each in items)
        )
        return Asked(
            wire=Wire.RESPONSES,
            model=text(body.get("model")),
            is_streamed=body.get("stream") is True,
            said=(Said(Speaker.INSTRUCTIONS, text(body.get("instructions"))), *map(_said, items)),
            tools=offered(tools),
        )

    def usage(self, declared: DeclaredUsage) -> dict[str, JsonValue]:
        whole = whole_input(declared)
        inputs = stated(cached_tokens=declared.cache_read, cache_write_tokens=declared.cache_write)
        outputs = stated(reasoning_tokens=declared.reasoning)
        return stated(
            input_tokens=whole,
            input_tokens_details=inputs or None,
            output_tokens=declared.output,
            output_tokens_details=outputs or None,
            total_tokens=added(whole, declared.output),
        )

    def whole(self, answer: Answer) -> dict[str, JsonValue]:
        return _response(answer, _items(answer))

    def frames(self, answer: Answer, asked: Asked) -> tuple[Frame, ...]:  # noqa: ARG002 (a stream always states usage)
        end = "incomplete" if answer.stop in _INCOMPLETE else "completed"
        begun: JsonValue = {**_opening(answer, "in_progress"), "output": []}
        events: list[dict[str, JsonValue]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
        ]
        for index, done in enumerate(_items(answer)):
            events += _item_events(index, mapping(done))
        events.append({"type": f"response.{end}", "response": self.whole(answer)})
        return tuple(
            Frame(dumped({**event, "sequence_number": number}), text(event["type"]))
            for number, event in enumerate(events)
        )

    def error(self, refusal: Refusal) -> dict[str, JsonValue]:
        return error_body(refusal)

    def error_frame(self, refusal: Refusal) -> Frame:
        error = mapping(error_body(refusal)["error"])
        event: JsonValue = {"type": "error", "code": error["type"], "message": refusal.message, "param": None}
        return Frame(dumped(event), "error")


def _tools(given: JsonValue, depth: int) -> Iterator[Offered]:
    for tool in objects(given):
        if tool.get("type") == "custom":
            yield Offered(text(tool.get("name")), {}, Form.TEXT)
        elif tool.get("type") == "function":
            yield Offered(text(tool.get("name")), fields_of(tool.get("parameters")))
        elif depth > 1:
            yield from _tools(tool.get("tools"), depth - 1)


def _said(item: Json) -> Said:
    kind = text(item.get("type")) or "message"
    if kind == "message":
        speaker = {"assistant": Speaker.MODEL, "user": Speaker.USER}.get(text(item.get("role")), Speaker.INSTRUCTIONS)
        return Said(speaker, texts(item.get("content")))
    if kind.endswith("_output"):
        return Said(Speaker.TOOL)
    return Said(Speaker.MODEL if kind.endswith("_call") or kind == "reasoning" else Speaker.INSTRUCTIONS)


def _opening(answer: Answer, status: str) -> dict[str, JsonValue]:
    return {
        "id": f"resp_{answer.key}",
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
    }


def _response(answer: Answer, items: list[JsonValue]) -> dict[str, JsonValue]:
    why = _INCOMPLETE.get(answer.stop)
    details: JsonValue = None if why is None else {"reason": why}
    head = _opening(answer, "completed" if why is None else "incomplete")
    return {**head, "incomplete_details": details, "output": items, **stated(usage=answer.usage)}


def _items(answer: Answer) -> list[JsonValue]:
    said: list[JsonValue] = []
    if answer.text is not None:
        part: JsonValue = {"type": "output_text", "text": answer.text, "annotations": []}
        said.append(
            {
                "type": "message",
                "id": f"msg_{answer.key}",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    return said + [_call(f"{answer.key}{number:02}", call) for number, call in enumerate(answer.calls)]


def _call(key: str, call: NativeCall) -> JsonValue:
    if isinstance(call.input, str):
        custom = {"type": "custom_tool_call", "id": f"ctc_{key}", "input": call.input}
        return {**custom, **_named(key, call)}
    function = {"type": "function_call", "id": f"fc_{key}", "arguments": dumped(call.input)}
    return {**function, **_named(key, call)}


def _named(key: str, call: NativeCall) -> dict[str, JsonValue]:
    namespace, _, name = call.tool.rpartition(".")
    named: dict[str, JsonValue] = {"status": "completed", "call_id": f"call_{key}", "name": name}
    return {**named, **stated(namespace=namespace or None)}


def _item_events(index: int, done: Json) -> Iterator[dict[str, JsonValue]]:
    at: dict[str, JsonValue] = {"output_index": index, "item_id": done["id"]}
    match done["type"]:
        case "message":
            begun, inner = {**done, "content": []}, _message_events(at, done)
        case "custom_tool_call":
            begun, inner = {**done, "input": ""}, _input_events(at, "custom_tool_call_input", "input", done)
        case _:
            begun, inner = {**done, "arguments": ""}, _input_events(at, "function_call_arguments", "arguments", done)
    yield {"type": "response.output_item.added", "output_index": index, "item": {**begun, "status": "in_progress"}}
    yield from inner
    yield {"type": "response.output_item.done", "output_index": index, "item": dict(done)}


def _message_events(at: Json, done: Json) -> Iterator[dict[str, JsonValue]]:
    part = dict(objects(done["content"])[0])
    place: dict[str, JsonValue] = {**at, "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in split_text(text(part["text"])):
        yield {"type": "response.output_text.delta", **place, "delta": piece}
    yield {"type": "response.output_text.done", **place, "text": part["text"]}
    yield {"type": "response.content_part.done", **place, "part": part}


def _input_events(at: Json, kind: str, field: str, done: Json) -> Iterator[dict[str, JsonValue]]:
    for piece in split_text(text(done[field])):
        yield {"type": f"response.{kind}.delta", **at, "delta": piece}
    yield {"type": f"response.{kind}.done", **at, field: done[field]}
