import json
from contextlib import AbstractContextManager
from http.client import HTTPConnection, IncompleteRead

import pytest

from farm.model import Wire
from tests.builders import wires
from tests.services.provider import ScriptedProvider, serving

ALL = pytest.mark.parametrize("wire", list(Wire))
TEXT = "twenty words or so, that a stream has to send in two"
USAGE = {"ordinary_input": 10, "cache_read": 0, "cache_write": 0, "output": 5}


def _serving(**reply: object) -> AbstractContextManager[ScriptedProvider]:
    return serving({"rules": [{"reply": reply}]})


@ALL
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_error_has_its_status_its_words_and_when_to_come_again(wire: Wire, streamed: bool) -> None:
    with _serving(error={"status": 429, "retry_after_s": 1.5, "message": "slower, please"}) as provider:
        answer = wires.ask(provider.url, wire, streamed=streamed)
    assert (answer.status, answer.headers["retry-after"]) == (429, "1.5")
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json["error"]["message"] == "slower, please"
    assert provider.requests[0].status == 429


@pytest.mark.parametrize(
    ("wire", "status", "place", "word"),
    [
        (Wire.ANTHROPIC, 400, "type", "invalid_request_error"),
        (Wire.ANTHROPIC, 401, "type", "authentication_error"),
        (Wire.ANTHROPIC, 429, "type", "rate_limit_error"),
        (Wire.ANTHROPIC, 500, "type", "api_error"),
        (Wire.ANTHROPIC, 529, "type", "overloaded_error"),
        (Wire.RESPONSES, 429, "type", "rate_limit_error"),
        (Wire.CHAT, 503, "type", "server_error"),
        (Wire.GEMINI, 429, "status", "RESOURCE_EXHAUSTED"),
        (Wire.GEMINI, 503, "status", "UNAVAILABLE"),
    ],
)
def test_an_error_is_named_as_the_wire_names_it(wire: Wire, status: int, place: str, word: str) -> None:
    with _serving(error={"status": status}) as provider:
        assert wires.ask(provider.url, wire).json["error"][place] == word


def test_an_errors_body_may_be_anything() -> None:
    rules = [
        {"when": {"prompt": "page"}, "reply": {"error": {"status": 502, "body": "<h1>Bad gateway</h1>"}}},
        {"reply": {"error": {"status": 500, "body": {"oops": [1]}}}},
    ]
    with serving({"rules": rules}) as provider:
        page = wires.ask(provider.url, Wire.ANTHROPIC, "a page")
        value = wires.ask(provider.url, Wire.ANTHROPIC, "a value")
    assert (page.status, page.headers["content-type"].partition(";")[0], page.body) == (
        502,
        "text/plain",
        b"<h1>Bad gateway</h1>",
    )
    assert (value.status, value.json) == (500, {"oops": [1]})


@ALL
def test_a_broken_event_is_the_streams_last(wire: Wire) -> None:
    with _serving(text=TEXT, malformed="json", usage=USAGE) as provider:
        found = wires.events(wires.ask(provider.url, wire, streamed=True).body)
    for event in found[:-1]:
        json.loads(event.data)
    with pytest.raises(json.JSONDecodeError):
        json.loads(found[-1].data)


@ALL
def test_an_error_may_come_within_a_stream(wire: Wire) -> None:
    with _serving(text=TEXT, malformed="error", usage=USAGE) as provider:
        last = wires.events(wires.ask(provider.url, wire, streamed=True).body)[-1]
    told = json.loads(last.data)
    assert last.name == ("error" if wire in {Wire.ANTHROPIC, Wire.RESPONSES} else "")
    assert "breaks this answer off" in (told if wire is Wire.RESPONSES else told["error"])["message"]


def test_the_error_within_a_stream_may_be_any() -> None:
    with _serving(text=TEXT, malformed="error", error={"status": 529, "message": "too many"}) as provider:
        stream = wires.events(wires.ask(provider.url, Wire.ANTHROPIC, streamed=True).body)
        whole = wires.ask(provider.url, Wire.ANTHROPIC)
    told = {"type": "error", "error": {"type": "overloaded_error", "message": "too many"}}
    assert json.loads(stream[0].data)["type"] == "message_start"
    assert json.loads(stream[-1].data) == told
    assert (whole.status, whole.json) == (529, told)


@ALL
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_cut_connection_ends_in_the_middle(wire: Wire, streamed: bool) -> None:
    with _serving(text=TEXT, malformed="cut", usage=USAGE) as provider, pytest.raises(IncompleteRead) as caught:
        wires.ask(provider.url, wire, streamed=streamed)
    assert caught.value.partial
    assert not caught.value.partial.endswith((b"}", b"\n"))


@ALL
def test_a_whole_answer_may_be_no_json(wire: Wire) -> None:
    with _serving(text=TEXT, malformed="json") as provider:
        answer = wires.ask(provider.url, wire)
    assert answer.status == 200
    with pytest.raises(json.JSONDecodeError):
        answer.json  # noqa: B018 (reading it is the test)


@ALL
def test_what_is_malformed_comes_where_it_should(wire: Wire) -> None:
    with _serving(text=TEXT, malformed="error", after_events=1) as provider:
        assert len(wires.events(wires.ask(provider.url, wire, streamed=True).body)) == 2


@ALL
def test_what_is_malformed_comes_in_the_middle_when_nothing_else_is_said(wire: Wire) -> None:
    with serving(
        {"rules": [{"times": 1, "reply": {"text": TEXT}}, {"reply": {"text": TEXT, "malformed": "error"}}]}
    ) as up:
        whole, broken = (wires.events(wires.ask(up.url, wire, streamed=True).body) for _ in range(2))
    assert len(broken) - 1 == len(whole) // 2 > 0


def test_an_answer_waits_as_long_as_the_script_says_unless_its_reply_says_otherwise() -> None:
    rules = [{"when": {"prompt": "now"}, "reply": {"text": "x", "latency_s": 0}}, {"reply": {"text": "x"}}]
    with serving({"latency_s": 3600, "rules": rules}) as provider:
        assert wires.ask(provider.url, Wire.CHAT, "now").status == 200
        connection = HTTPConnection("127.0.0.1", provider.port, timeout=0.2)
        connection.request("POST", "/v1/chat/completions", json.dumps(wires.body_of(Wire.CHAT, "later")))
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()


def test_a_stall_before_the_headers_says_nothing_for_ever() -> None:
    with _serving(text=TEXT, stall={"at": "headers"}) as provider:
        connection = HTTPConnection("127.0.0.1", provider.port, timeout=0.2)
        connection.request("POST", "/v1/messages", json.dumps(wires.body_of(Wire.ANTHROPIC)))
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()


@ALL
def test_a_stall_in_a_stream_comes_after_its_beginning(wire: Wire) -> None:
    with _serving(text=TEXT, stall={"at": "stream"}, after_events=1) as provider:
        connection = HTTPConnection("127.0.0.1", provider.port, timeout=0.2)
        connection.request("POST", wires.path_of(wire, streamed=True), json.dumps(wires.body_of(wire, streamed=True)))
        response = connection.getresponse()
        begun = response.read1()
        with pytest.raises(TimeoutError):
            response.read1()
        connection.close()
    assert len(wires.events(begun)) == 1


def test_a_stall_for_a_while_ends() -> None:
    with _serving(text=TEXT, stall={"at": "stream", "seconds": 0.05}) as provider:
        answer = wires.ask(provider.url, Wire.CHAT, streamed=True)
    assert wires.heard(Wire.CHAT, answer, streamed=True).text == TEXT


@ALL
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_small_pieces_make_the_same_answer(wire: Wire, streamed: bool) -> None:
    with _serving(text="pièce by pièce", chunk_bytes=3, pause_s=0.0001, usage=USAGE) as provider:
        answer = wires.heard(wire, wires.ask(provider.url, wire, streamed=streamed), streamed=streamed)
    assert answer.text == "pièce by pièce"
