"""A small client of the four wires: it asks as an agent does, and reads strictly what the wires' own documents say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from farm.model import Wire

LIMIT_S = 20.0
STOPS = {
    Wire.ANTHROPIC: {"end_turn": "done", "tool_use": "tools", "max_tokens": "length", "refusal": "refused"},
    Wire.RESPONSES: {"completed": "done", "max_output_tokens": "length", "content_filter": "refused"},
    Wire.CHAT: {"stop": "done", "tool_calls": "tools", "length": "length", "content_filter": "refused"},
    Wire.GEMINI: {"STOP": "done", "MAX_TOKENS": "length", "SAFETY": "refused"},
}


@dataclass
class Heard:
    """What a model said."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    stop: str = ""
    usage: Any = None
    model: str = ""


@dataclass(frozen=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Event:
    name: str
    data: str


def send(
    url: str, path: str, body: bytes, headers: Mapping[str, str] | None = None, method: str = "POST"
) -> HttpAnswer:
    """Send one request and read the whole answer."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=LIMIT_S)
    try:
        connection.request(method, path, body, dict(headers or {}))
        response = connection.getresponse()
        return HttpAnswer(
            response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        )
    finally:
        connection.close()


def path_of(wire: Wire, *, streamed: bool = False, model: str = "m1") -> str:
    """Give the path at which a wire asks."""
    match wire:
        case Wire.ANTHROPIC:
            return "/v1/messages"
        case Wire.RESPONSES:
            return "/v1/responses"
        case Wire.CHAT:
            return "/v1/chat/completions"
        case Wire.GEMINI:
            return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if streamed else "generateContent")


def body_of(wire: Wire, prompt: str = "hello", *, streamed: bool = False, tools: Any = None) -> dict[str, Any]:
    """Give the body of a conversation's first request."""
    offers = {} if tools is None else {"tools": tools}
    match wire:
        case Wire.ANTHROPIC:
            said: dict[str, Any] = {"max_tokens": 99, "messages": [{"role": "user", "content": prompt}]}
        case Wire.RESPONSES:
            said = {"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}]}
        case Wire.CHAT:
            options = {"stream_options": {"include_usage": True}} if streamed else {}
            said = {"messages": [{"role": "user", "content": prompt}], **options}
        case Wire.GEMINI:
            return {"contents": [{"role": "user", "parts": [{"text": prompt}]}], **offers}
    return {"model": "m1", **said, **offers, **({"stream": True} if streamed else {})}


def tool_offers(wire: Wire, **fields: list[str]) -> Any:
    """Offer tools with the named text fields."""
    schemas = {
        name: {"type": "object", "properties": {each: {"type": "string"} for each in given}}
        for name, given in fields.items()
    }
    match wire:
        case Wire.ANTHROPIC:
            return [{"name": name, "input_schema": schema} for name, schema in schemas.items()]
        case Wire.RESPONSES:
            return [{"type": "function", "name": name, "parameters": schema} for name, schema in schemas.items()]
        case Wire.CHAT:
            return [
                {"type": "function", "function": {"name": name, "parameters": schema}}
                for name, schema in schemas.items()
            ]
        case Wire.GEMINI:
            return [
                {
                    "functionDeclarations": [
                        {"name": name, "parametersJsonSchema": schema} for name, schema in schemas.items()
                    ]
                }
            ]


def ask(url: str, wire: Wire, prompt: str = "hello", *, streamed: bool = False, tools: Any = None) -> HttpAnswer:
    """Ask the first question of a conversation."""
    body = json.dumps(body_of(wire, prompt, streamed=streamed, tools=tools)).encode()
    return send(url, path_of(wire, streamed=streamed), body, {"content-type": "application/json"})


def heard(wire: Wire, answer: HttpAnswer, *, streamed: bool) -> Heard:
    """Read what the model said, and check the form in which it did."""
    assert answer.status == 200, answer.body
    if streamed:
        assert answer.headers["content-type"].startswith("text/event-stream")
        return _STREAMS[wire](events(answer.body))
    assert answer.headers["content-type"].startswith("application/json")
    return _WHOLES[wire](answer.json)


def events(body: bytes) -> list[Event]:
    """Split an event stream as browsers do: fields by line, an event at each empty line."""
    found, name, data = [], "", []
    for line in body.decode().replace("\r\n", "\n").split("\n"):
        if line == "":
            if data:
                found.append(Event(name, "\n".join(data)))
            name, data = "", []
        elif line.startswith("event:"):
            name = line.removeprefix("event:").removeprefix(" ")
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
        else:
            assert line.startswith(":"), line
    assert not data, "the stream ends in the middle of an event"
    return found


def _anthropic(message: Any) -> Heard:
    assert message["type"] == "message"
    assert message["role"] == "assistant"
    heard_ = Heard(stop=message["stop_reason"], usage=message.get("usage"), model=message["model"])
    for block in message["content"]:
        if block["type"] == "text":
            heard_.text += block["text"]
        else:
            assert block["type"] == "tool_use"
            assert block["id"].startswith("toolu_")
            heard_.calls.append((block["name"], block["input"]))
    return heard_


def _anthropic_stream(stream: list[Event]) -> Heard:
    bodies = [json.loads(event.data) for event in stream]
    assert [body["type"] for body in bodies] == [event.name for event in stream]
    assert bodies[0]["type"] == "message_start"
    assert [body["type"] for body in bodies[-2:]] == ["message_delta", "message_stop"]
    message = bodies[0]["message"]
    assert message["stop_reason"] is None
    for body in bodies[1:-2]:
        match body["type"]:
            case "content_block_start":
                assert body["index"] == len(message["content"])
                message["content"].append(body["content_block"])
                pieces: list[str] = []
            case "content_block_delta":
                assert body["index"] == len(message["content"]) - 1
                delta = body["delta"]
                assert delta["type"] == ("text_delta" if "text" in delta else "input_json_delta")
                pieces.append(delta["text"] if "text" in delta else delta["partial_json"])
            case "content_block_stop":
                block = message["content"][body["index"]]
                if block["type"] == "text":
                    block["text"] = "".join(pieces)
                else:
                    assert block["input"] == {}
                    block["input"] = json.loads("".join(pieces))
            case other:
                assert other == "ping"
    ending = bodies[-2]
    usage = message.pop("usage", None)
    if "usage" in ending:
        usage = {**(usage or {}), **ending["usage"]}
    return _anthropic({**message, **ending["delta"], "usage": usage})


def _responses(response: Any) -> Heard:
    assert response["object"] == "response"
    details = response["incomplete_details"]
    assert (response["status"] == "incomplete") == (details is not None)
    heard_ = Heard(
        stop=details["reason"] if details else response["status"], usage=response.get("usage"), model=response["model"]
    )
    for item in response["output"]:
        match item["type"]:
            case "message":
                assert item["role"] == "assistant"
                heard_.text += "".join(part["text"] for part in item["content"])
            case "function_call":
                assert item["call_id"]
                heard_.calls.append((item["name"], json.loads(item["arguments"])))
            case "custom_tool_call":
                heard_.calls.append((item["name"], item["input"]))
            case other:
                raise AssertionError(other)
    return heard_


def _responses_stream(stream: list[Event]) -> Heard:
    bodies = [json.loads(event.data) for event in stream]
    assert [body["type"] for body in bodies] == [event.name for event in stream]
    assert [body["sequence_number"] for body in bodies] == list(range(len(bodies)))
    assert [body["type"] for body in bodies[:2]] == ["response.created", "response.in_progress"]
    assert bodies[0]["response"]["status"] == "in_progress"
    done: list[Any] = []
    pieces: dict[str, str] = {}
    for body in bodies[2:-1]:
        kind = body["type"].removeprefix("response.")
        if kind == "output_item.added":
            assert body["output_index"] == len(done)
            pieces = {body["item"]["id"]: ""}
        elif kind.endswith(".delta"):
            pieces[body["item_id"]] += body["delta"]
        elif kind == "output_item.done":
            done.append(body["item"])
        elif kind.endswith(".done") and "part" not in body:
            field_ = {"output_text.done": "text", "function_call_arguments.done": "arguments"}.get(kind, "input")
            assert body[field_] == pieces[body["item_id"]]
        else:
            assert kind in {"content_part.added", "content_part.done"}
    last = bodies[-1]
    assert last["type"] == f"response.{last['response']['status']}"
    assert last["response"]["output"] == done
    return _responses(last["response"])


def _chat(completion: Any) -> Heard:
    assert completion["object"] == "chat.completion"
    (choice,) = completion["choices"]
    message = choice["message"]
    calls = [
        (each["function"]["name"], json.loads(each["function"]["arguments"])) for each in message.get("tool_calls", [])
    ]
    return Heard(message["content"] or "", calls, choice["finish_reason"], completion.get("usage"), completion["model"])


def _chat_stream(stream: list[Event]) -> Heard:
    assert stream[-1].data == "[DONE]"
    bodies = [json.loads(event.data) for event in stream[:-1]]
    heard_ = Heard(model=bodies[0]["model"])
    calls: list[dict[str, Any]] = []
    for body in bodies:
        assert body["object"] == "chat.completion.chunk"
        if body["choices"] == []:
            assert body is bodies[-1]
            heard_.usage = body["usage"]
            continue
        assert body.get("usage") is None
        delta = body["choices"][0]["delta"]
        heard_.text += delta.get("content") or ""
        heard_.stop = body["choices"][0]["finish_reason"] or heard_.stop
        for piece in delta.get("tool_calls", []):
            if "id" in piece:
                assert piece["index"] == len(calls)
                calls.append({"name": piece["function"]["name"], "arguments": ""})
            calls[piece["index"]]["arguments"] += piece["function"]["arguments"]
    heard_.calls = [(call["name"], json.loads(call["arguments"])) for call in calls]
    return heard_


def _gemini(response: Any) -> Heard:
    (candidate,) = response["candidates"]
    assert candidate["content"]["role"] == "model"
    heard_ = Heard(
        stop=candidate.get("finishReason", ""), usage=response.get("usageMetadata"), model=response["modelVersion"]
    )
    for part in candidate["content"]["parts"]:
        heard_.text += part.get("text", "")
        if "functionCall" in part:
            heard_.calls.append((part["functionCall"]["name"], part["functionCall"]["args"]))
    return heard_


def _gemini_stream(stream: list[Event]) -> Heard:
    parts = [_gemini(json.loads(event.data)) for event in stream]
    assert all(part.stop == "" for part in parts[:-1])
    return Heard(
        "".join(part.text for part in parts),
        [call for part in parts for call in part.calls],
        parts[-1].stop,
        parts[-1].usage,
        parts[-1].model,
    )


_WHOLES = {Wire.ANTHROPIC: _anthropic, Wire.RESPONSES: _responses, Wire.CHAT: _chat, Wire.GEMINI: _gemini}
_STREAMS = {
    Wire.ANTHROPIC: _anthropic_stream,
    Wire.RESPONSES: _responses_stream,
    Wire.CHAT: _chat_stream,
    Wire.GEMINI: _gemini_stream,
}
