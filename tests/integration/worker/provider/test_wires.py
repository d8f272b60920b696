import json
from typing import Any

import pytest

from farm.model import Wire
from tests.builders import wires
from tests.services.provider import saying, serving

ALL = pytest.mark.parametrize("wire", list(Wire))
BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])

GOLDEN = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
NATIVE: dict[Wire, Any] = {
    Wire.ANTHROPIC: {
        "input_tokens": 3000,
        "cache_read_input_tokens": 44000,
        "cache_creation_input_tokens": 1000,
        "output_tokens": 120,
    },
    Wire.RESPONSES: {
        "input_tokens": 48000,
        "input_tokens_details": {"cached_tokens": 44000, "cache_write_tokens": 1000},
        "output_tokens": 120,
        "output_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 48120,
    },
    Wire.CHAT: {
        "prompt_tokens": 48000,
        "prompt_tokens_details": {"cached_tokens": 44000},
        "completion_tokens": 120,
        "completion_tokens_details": {"reasoning_tokens": 40},
        "total_tokens": 48120,
    },
    Wire.GEMINI: {
        "promptTokenCount": 48000,
        "cachedContentTokenCount": 44000,
        "candidatesTokenCount": 80,
        "thoughtsTokenCount": 40,
        "totalTokenCount": 48120,
    },
}


@ALL
@BOTH
def test_text_and_usage_come_as_the_wire_says(wire: Wire, streamed: bool) -> None:
    with serving(saying("Grüße, all done.", **GOLDEN)) as provider:
        answer = wires.heard(wire, wires.ask(provider.url, wire, streamed=streamed), streamed=streamed)
    assert answer.text == "Grüße, all done."
    assert answer.calls == []
    assert wires.STOPS[wire][answer.stop] == "done"
    assert answer.usage == NATIVE[wire]
    assert answer.model == "m1"


@ALL
@BOTH
def test_usage_that_is_not_declared_is_not_on_the_wire(wire: Wire, streamed: bool) -> None:
    with serving(saying("done")) as provider:
        answer = wires.ask(provider.url, wire, streamed=streamed)
    assert wires.heard(wire, answer, streamed=streamed).usage is None
    assert b"usage" not in answer.body


@ALL
@BOTH
def test_tool_calls_come_with_the_text_before_them(wire: Wire, streamed: bool) -> None:
    call = {"name": "look", "input": {"at": "ü.txt", "deep": [1, None]}}
    script = {
        "rules": [{"reply": {"text": "I look.", "tools": [{"call": call}, {"call": {"name": "b", "input": {}}}]}}]
    }
    with serving(script) as provider:
        answer = wires.heard(wire, wires.ask(provider.url, wire, streamed=streamed), streamed=streamed)
    assert answer.text == "I look."
    assert answer.calls == [("look", {"at": "ü.txt", "deep": [1, None]}), ("b", {})]
    assert wires.STOPS[wire][answer.stop] in ({"done"} if wire in {Wire.RESPONSES, Wire.GEMINI} else {"tools"})


@BOTH
def test_a_tool_of_a_namespace_is_called_in_it(streamed: bool) -> None:
    script = {"rules": [{"reply": {"tools": [{"call": {"name": "mcp__kit.look", "input": {}}}]}}]}
    with serving(script) as provider:
        body = wires.ask(provider.url, Wire.RESPONSES, streamed=streamed).body.decode()
    assert '"name":"look","namespace":"mcp__kit"' in body.replace('": "', '":"').replace('", "', '","')


@ALL
@BOTH
@pytest.mark.parametrize("stop", ["length", "refused"])
def test_a_stop_reason_is_told_in_the_wires_words(wire: Wire, streamed: bool, stop: str) -> None:
    with serving({"rules": [{"reply": {"text": "half", "stop": stop}}]}) as provider:
        answer = wires.heard(wire, wires.ask(provider.url, wire, streamed=streamed), streamed=streamed)
    assert wires.STOPS[wire][answer.stop] == stop


@ALL
@BOTH
def test_native_usage_comes_as_it_is_written(wire: Wire, streamed: bool) -> None:
    raw = {"output_tokens": "many", "else": [1]}
    script = {"rules": [{"reply": {"text": "x", "usage": {"ordinary_input": 5, "raw": {wire.value: raw}}}}]}
    with serving(script) as provider:
        answer = wires.heard(wire, wires.ask(provider.url, wire, streamed=streamed), streamed=streamed)
    assert answer.usage == raw


@ALL
def test_a_reply_without_a_word_of_usage_has_the_scripts(wire: Wire) -> None:
    rules = [{"when": {"prompt": "none"}, "reply": {"text": "x", "usage": None}}, {"reply": {"text": "x"}}]
    with serving({"default_usage": GOLDEN, "rules": rules}) as provider:
        default = wires.heard(wire, wires.ask(provider.url, wire), streamed=False)
        none = wires.heard(wire, wires.ask(provider.url, wire, "none, please"), streamed=False)
    assert (default.usage, none.usage) == (NATIVE[wire], None)


def test_an_anthropic_stream_begins_with_the_input_and_one_token_of_output() -> None:
    with serving(saying("x", **GOLDEN)) as provider:
        stream = wires.events(wires.ask(provider.url, Wire.ANTHROPIC, streamed=True).body)
    assert json.loads(stream[0].data)["message"]["usage"] == {**NATIVE[Wire.ANTHROPIC], "output_tokens": 1}
    assert json.loads(stream[-2].data)["usage"] == NATIVE[Wire.ANTHROPIC]


def test_cache_writes_are_split_by_how_long_they_are_kept() -> None:
    with serving(saying("x", cache_write=1000, cache_write_1h=300)) as provider:
        answer = wires.heard(Wire.ANTHROPIC, wires.ask(provider.url, Wire.ANTHROPIC), streamed=False)
    parts = {"ephemeral_5m_input_tokens": 700, "ephemeral_1h_input_tokens": 300}
    assert answer.usage == {"cache_creation_input_tokens": 1000, "cache_creation": parts}


def test_a_gemini_stream_states_usage_with_its_last_words() -> None:
    with serving(saying("some words", **GOLDEN)) as provider:
        stream = wires.events(wires.ask(provider.url, Wire.GEMINI, streamed=True).body)
    assert ["usageMetadata" in json.loads(event.data) for event in stream] == [False, True]


def test_a_chat_stream_tells_usage_only_to_those_who_ask() -> None:
    body = {key: value for key, value in wires.body_of(Wire.CHAT, streamed=True).items() if key != "stream_options"}
    with serving(saying("x", **GOLDEN)) as provider:
        answer = wires.send(provider.url, "/v1/chat/completions", json.dumps(body).encode())
    assert wires.heard(Wire.CHAT, answer, streamed=True).usage is None
    assert b"usage" not in answer.body


def test_a_gemini_stream_that_was_not_asked_for_as_events_is_a_list() -> None:
    body = json.dumps(wires.body_of(Wire.GEMINI)).encode()
    with serving(saying("some words", **GOLDEN)) as provider:
        answer = wires.send(provider.url, "/v1beta/models/m1:streamGenerateContent", body)
    assert [part["candidates"][0]["content"]["parts"] for part in answer.json] == [
        [{"text": "some "}],
        [{"text": "words"}],
    ]
    assert answer.json[-1]["usageMetadata"] == NATIVE[Wire.GEMINI]


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        (Wire.ANTHROPIC, "/c/token/v1/messages?beta=true"),
        (Wire.RESPONSES, "/responses"),
        (Wire.CHAT, "/chat/completions"),
        (Wire.GEMINI, "/v1/models/m1:generateContent"),
    ],
)
def test_a_wire_is_told_by_the_end_of_the_path(wire: Wire, path: str) -> None:
    with serving(saying("x")) as provider:
        answer = wires.send(provider.url, path, json.dumps(wires.body_of(wire)).encode())
    assert wires.heard(wire, answer, streamed=False).text == "x"


def test_what_asks_no_model_is_answered_at_once() -> None:
    with serving(saying("x")) as provider:
        hello = wires.send(provider.url, "/api/hello", b"", method="HEAD")
        models = wires.send(provider.url, "/v1/models", b"", method="GET")
        get = wires.send(provider.url, "/v1/responses", b"", method="GET")
        upgrade = {"connection": "upgrade", "upgrade": "websocket"}
        socket = wires.send(provider.url, "/v1/responses", b"", upgrade, method="GET")
    assert [hello.status, models.status, get.status, socket.status] == [200, 404, 405, 426]
    assert [each.wire for each in provider.requests] == [None] * 4


@ALL
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b"\xff"])
def test_a_body_that_is_not_the_wires_is_a_bad_request(wire: Wire, body: bytes) -> None:
    with serving(saying("x")) as provider:
        answer = wires.send(provider.url, wires.path_of(wire), body)
    assert answer.status == 400
    assert "can't be read" in answer.json["error"]["message"]


@ALL
def test_a_request_that_no_rule_is_for_is_a_bad_request_that_says_so(wire: Wire) -> None:
    with serving({"rules": [{"when": {"prompt": "cat"}, "reply": {"text": "x"}}]}) as provider:
        answer = wires.ask(provider.url, wire, "a dog")
    assert answer.status == 400
    assert f"no rule for this request: wire {wire}, model 'm1', turn 0" in answer.json["error"]["message"]


@ALL
def test_a_tool_that_is_not_offered_is_a_bad_request_that_names_the_rule(wire: Wire) -> None:
    script = {"rules": [{"name": "work", "reply": {"tools": [{"run": {"command": "ls"}}]}}]}
    with serving(script) as provider:
        none = wires.ask(provider.url, wire, tools=wires.tool_offers(wire, look=["path"]))
        some = wires.ask(provider.url, wire, tools=wires.tool_offers(wire, bash=["command"]))
    assert none.status == 400
    assert "work: the reply runs a command" in none.json["error"]["message"]
    assert provider.requests[0].rule == "work"
    assert wires.heard(wire, some, streamed=False).calls == [("bash", {"command": "ls"})]
