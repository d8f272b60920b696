"""OpenAI Chat Completions."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from farm.model import Wire
from worker.provider.answer import (
    Answer,
    Frame,
    UnreadableError,
    added,
    dumped,
    split_text,
    stated,
    whole_input,
)
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
from worker.provider.openai_errors import error_body
from worker.provider.script import DeclaredUsage, Refusal, Stop

_STOPS = {Stop.DONE: "stop", Stop.TOOLS: "tool_calls", Stop.LENGTH: "length", Stop.REFUSED: "content_filter"}
_SPEAKERS = {"assistant": Speaker.MODEL, "user": Speaker.USER, "tool": Speaker.TOOL, "function": Speaker.TOOL}


class Chat:
    """POST /v1/chat/completions."""

    eol = "\n"
    id_header: str | None = "x-request-id"

    def read(self, path: str, query: Mapping[str, str], body: Json) -> Asked:  # noqa: ARG002 (all is in the body)
        if not isinstance(body.get("messages"), list):
            raise UnreadableError("messages: a list is required")
        functions = [mapping(tool.get("function")) for tool in objects(body.get("tools"))]
        return Asked(
            wire=Wire.CHAT,
            model=text(body.get("model")),
            is_streamed=body.get("stream") is True,
            said=tuple(
                Said(_SPEAKERS.get(text(each.get("role")), Speaker.INSTRUCTIONS), texts(each.get("content")))
                for each in objects(body.get("messages"))
            ),
            tools=offered(Offered(text(each.get("name")), fields_of(each.get("parameters"))) for each in functions),
            wants_usage=mapping(body.get("stream_options")).get("include_usage") is True,
        )

    def usage(self, declared: DeclaredUsage) -> dict[str, JsonValue]:
        whole = whole_input(declared)
        inputs = stated(cached_tokens=declared.cache_read)
        outputs = stated(reasoning_tokens=declared.reasoning)
        return stated(
            prompt_tokens=whole,
            completion_tokens=declared.output,
            total_tokens=added(whole, declared.output),
            prompt_tokens_details=inputs or None,
            completion_tokens_details=outputs or None,
        )

    def whole(self, answer: Answer) -> dict[str, JsonValue]:
        message: dict[str, JsonValue] = {"role": "assistant", "content": answer.text, "refusal": None}
        if answer.calls:
            message["tool_calls"] = _calls(answer)
        choice: JsonValue = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": _STOPS[answer.stop],
        }
        return {**_opening(answer, "chat.completion"), "choices": [choice], **stated(usage=answer.usage)}

    def frames(self, answer: Answer, asked: Asked) -> tuple[Frame, ...]:
        chunk = _opening(answer, "chat.completion.chunk")
        deltas: list[dict[str, JsonValue]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in split_text(answer.text or "")]
        for index, call in enumerate(_calls(answer)):
            deltas += _call_deltas(index, mapping(call))
        bodies = [{**chunk, "choices": [_choice(delta, None)]} for delta in deltas]
        bodies.append({**chunk, "choices": [_choice({}, _STOPS[answer.stop])]})
        if asked.wants_usage and answer.usage is not None:
            bodies = [{**body, "usage": None} for body in bodies]
            bodies.append({**chunk, "choices": [], "usage": answer.usage})
        return (*(Frame(dumped(body)) for body in bodies), Frame("[DONE]"))

    def error(self, refusal: Refusal) -> dict[str, JsonValue]:
        return error_body(refusal)

    def error_frame(self, refusal: Refusal) -> Frame:
        return Frame(dumped(error_body(refusal)))


def _opening(answer: Answer, kind: str) -> dict[str, JsonValue]:
    return {"id": f"chatcmpl-{answer.key}", "object": kind, "created": answer.created, "model": answer.model}


def _calls(answer: Answer) -> list[JsonValue]:
    return [
        {
            "id": f"call_{answer.key}{number:02}",
            "type": "function",
            "function": {
                "name": call.tool,
                "arguments": call.input if isinstance(call.input, str) else dumped(call.input),
            },
        }
        for number, call in enumerate(answer.calls)
    ]


def _choice(delta: JsonValue, reason: str | None) -> JsonValue:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _call_deltas(index: int, call: Json) -> Iterator[dict[str, JsonValue]]:
    function = mapping(call["function"])
    begun: JsonValue = {**call, "index": index, "function": {**function, "arguments": ""}}
    yield {"tool_calls": [begun]}
    for piece in split_text(text(function["arguments"])):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
