"""Gemini generateContent."""

import re
from collections.abc import Mapping

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

_PATH = re.compile(r"/models/(?P<model>[^/]+):(?P<verb>generateContent|streamGenerateContent)$")
_STOPS = {Stop.DONE: "STOP", Stop.TOOLS: "STOP", Stop.LENGTH: "MAX_TOKENS", Stop.REFUSED: "SAFETY"}
_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class Gemini:
    """POST /v1beta/models/<model>:generateContent and :streamGenerateContent."""

    eol = "\r\n"
    id_header: str | None = None

    def read(self, path: str, query: Mapping[str, str], body: Json) -> Asked:
        named = _PATH.search(path)
        if named is None or not isinstance(body.get("contents"), list):
            raise UnreadableError("contents: a list is required")
        functions = [
            function for tool in objects(body.get("tools")) for function in objects(tool.get("functionDeclarations"))
        ]
        system = mapping(body.get("systemInstruction"))
        return Asked(
            wire=Wire.GEMINI,
            model=named["model"],
            is_streamed=named["verb"] == "streamGenerateContent",
            said=(Said(Speaker.INSTRUCTIONS, texts(system.get("parts"))), *map(_said, objects(body.get("contents")))),
            tools=offered(Offered(text(each.get("name")), _fields(each)) for each in functions),
            is_sse=query.get("alt") == "sse",
        )

    def usage(self, declared: DeclaredUsage) -> dict[str, JsonValue]:
        whole, thoughts, output = whole_input(declared), declared.reasoning, declared.output
        return stated(
            promptTokenCount=whole,
            candidatesTokenCount=None if output is None else output - (thoughts or 0),
            totalTokenCount=added(whole, output),
            cachedContentTokenCount=declared.cache_read,
            thoughtsTokenCount=thoughts,
        )

    def whole(self, answer: Answer) -> dict[str, JsonValue]:
        parts: list[JsonValue] = [] if answer.text is None else [{"text": answer.text}]
        parts += [_call(answer.key, number, call) for number, call in enumerate(answer.calls)]
        return _chunk(answer, parts, is_last=True)

    def frames(self, answer: Answer, asked: Asked) -> tuple[Frame, ...]:  # noqa: ARG002 (a stream always states usage)
        texts_: list[list[JsonValue]] = [[{"text": piece}] for piece in split_text(answer.text or "")]
        calls: list[JsonValue] = [_call(answer.key, number, call) for number, call in enumerate(answer.calls)]
        several = [*texts_, *([calls] if calls else [])] or [[{"text": ""}]]
        return tuple(
            Frame(dumped(_chunk(answer, parts, is_last=number == len(several))))
            for number, parts in enumerate(several, start=1)
        )

    def error(self, refusal: Refusal) -> dict[str, JsonValue]:
        status = refusal.type or _ERRORS.get(refusal.status, "UNKNOWN")
        error: dict[str, JsonValue] = {"code": refusal.status, "message": refusal.message, "status": status}
        if refusal.retry_after_s is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": kind, "retryDelay": f"{refusal.retry_after_s:g}s"}]
        return {"error": error}

    def error_frame(self, refusal: Refusal) -> Frame:
        return Frame(dumped(self.error(refusal)))


def _said(content: Json) -> Said:
    parts = objects(content.get("parts"))
    if content.get("role") == "model":
        return Said(Speaker.MODEL, texts(content.get("parts")))
    answers_tools = any("functionResponse" in part for part in parts)
    return Said(Speaker.TOOL if answers_tools else Speaker.USER, texts(content.get("parts")))


def _fields(function: Json) -> Json:
    return fields_of(function.get("parametersJsonSchema") or function.get("parameters"))


def _call(key: str, number: int, call: NativeCall) -> JsonValue:
    arguments: JsonValue = {"input": call.input} if isinstance(call.input, str) else call.input
    return {"functionCall": {"id": f"call-{key}{number:02}", "name": call.tool, "args": arguments}}


def _chunk(answer: Answer, parts: list[JsonValue], *, is_last: bool) -> dict[str, JsonValue]:
    candidate: dict[str, JsonValue] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if is_last:
        candidate["finishReason"] = _STOPS[answer.stop]
    usage = stated(usageMetadata=answer.usage) if is_last else {}
    return {"candidates": [candidate], **usage, "modelVersion": answer.model, "responseId": answer.key}
