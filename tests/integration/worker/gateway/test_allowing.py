"""Only a model can be asked at a door, and only one that the session may ask; all else is answered on the spot."""

import json

import pytest

from farm.errors import SpecError
from farm.model import RequestEnd, Wire
from tests.builders.gateway import KEY, a_gateway, at_door, quick
from tests.builders.native import PATHS, WHOLE, asking, whole
from tests.builders.raw_provider import answer, providing, stream
from tests.services.waiting import wait_until
from worker.gateway import Upstream


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick()) as gateway:
        yield gateway


@pytest.fixture
def at(gateway, tmp_path):
    with (
        providing(whole(Wire.CHAT)) as provider,
        at_door(gateway, tmp_path, provider.url, models=("m", "m-small")) as at,
    ):
        at.provider = provider
        yield at


def error_of(wire, told):
    body = json.loads(told.body)
    match wire:
        case Wire.ANTHROPIC:
            assert (body["type"], set(body["error"])) == ("error", {"type", "message"})
        case Wire.GEMINI:
            assert set(body["error"]) == {"code", "message", "status"}
        case _:
            assert set(body["error"]) == {"message", "type", "param", "code"}
    return body["error"]


@pytest.mark.parametrize("wire", Wire)
def test_another_model_is_refused_for_good_in_the_wires_own_form(at, wire):
    path = PATHS[wire].replace("model-asked", "m-large")
    told = at.guest.ask(path, {"model": "m-large"})
    assert (told.status, told.headers["x-should-retry"]) == (400, "false")
    assert "m-large" in error_of(wire, told)["message"]
    assert at.provider.asked == []
    assert at.door.report().ends == {RequestEnd.REFUSED: 1}
    assert at.door.report().models == ()
    (record,) = map(json.loads, at.door.log().splitlines())
    assert (record["model_asked"], record["was_sent"], record["status"]) == ("m-large", False, 400)


def test_each_pinned_model_may_be_asked(at):
    for model in ("m", "m-small"):
        assert at.guest.ask(PATHS[Wire.CHAT], {"model": model}).status == 200
    wait_until(lambda: [one.model for one in at.door.report().models] == ["m", "m-small"])


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","model":"m-large"}',
        b'{"model":"m-large","model":"m"}',
        b'{"model":"m","\\u006dodel":"m-large"}',
        b'{"model":"m","models":["m-large"]}',
        b'{"model":"m","fallbacks":["m-large"]}',
        b'{"model":["m"]}',
        b'{"model":null}',
        b'{"model":""}',
        b'{"Model":"m"}',
        b'["model","m"]',
        b'{"model":"m"}{"model":"m-large"}',
        b'{"model":"m",}',
        b'{"model":"m"',
        b"",
        b"\xff\xfe{\x00",
        b'{"model":"m","x":' + b"[" * 100_000,
    ],
)
def test_a_body_that_may_be_read_in_two_ways_is_refused(at, body):
    told = at.guest.ask(PATHS[Wire.CHAT], body)
    assert told.status == 400
    error_of(Wire.CHAT, told)
    assert at.provider.asked == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/messages/count_tokens", 404),
        ("POST", "/v1/messages/batches", 404),
        ("POST", "/v1/responses/resp-1/cancel", 404),
        ("POST", "/v1/files", 404),
        ("POST", "/v1/embeddings", 404),
        ("POST", "/v1beta/models/m:countTokens", 404),
        ("POST", "/v1beta/models/m:batchGenerateContent", 404),
        ("POST", "/v1beta/models/a%2Fb:generateContent", 404),
        ("POST", "/v1beta/tunedModels/m:generateContent", 404),
        ("DELETE", "/v1/responses", 405),
        ("PUT", "/v1/messages", 405),
    ],
)
def test_other_paths_are_closed(at, method, path, status):
    told = at.guest.ask(path, {"model": "m"}, method=method)
    assert told.status == status
    assert at.provider.asked == []
    report = at.door.report()
    assert (report.ends, report.last_failure) == ({RequestEnd.NOT_OPEN: 1}, None)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("HEAD", "/api/hello", 200),
        ("GET", "/", 200),
        ("GET", "/v1/models", 404),
        ("HEAD", "/v1/messages", 405),
        ("GET", "/v1/responses/resp-1", 404),
    ],
)
def test_a_probe_is_answered_and_counts_for_nothing(at, method, path, status):
    assert at.guest.ask(path, b"", method=method).status == status
    assert at.provider.asked == []
    assert at.door.report().ends == {}
    assert at.door.log() == b""


def test_a_websocket_is_declined_at_once(at):
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    told = at.guest.ask("/v1/responses", b"", headers, method="GET")
    assert told.status == 426
    assert at.door.report().ends == {}


def test_a_wire_that_the_provider_does_not_speak_is_closed(gateway, tmp_path):
    wires = frozenset({Wire.ANTHROPIC})
    with providing(whole(Wire.ANTHROPIC)) as provider, at_door(gateway, tmp_path, provider.url, wires=wires) as at:
        told = at.guest.ask(PATHS[Wire.CHAT], asking(Wire.CHAT))
        assert told.status == 404
        error_of(Wire.ANTHROPIC, told)
        assert at.guest.ask(PATHS[Wire.ANTHROPIC], asking(Wire.ANTHROPIC)).status == 200


def test_a_key_in_geminis_query_is_not_sent_on(gateway, tmp_path):
    with providing(whole(Wire.GEMINI)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        at.guest.ask(PATHS[Wire.GEMINI] + "?key=x&alt=sse&access_token=y", {})
        at.guest.ask(PATHS[Wire.GEMINI] + "?k%65y=x&%61lt=sse", {})
        at.guest.ask(PATHS[Wire.GEMINI] + "?k%65y=x&KEY=y", {})
    assert [asked.line for asked in provider.asked] == [
        f"POST {PATHS[Wire.GEMINI]}?alt=sse HTTP/1.1",
        f"POST {PATHS[Wire.GEMINI]} HTTP/1.1",
    ]


@pytest.mark.parametrize("wire", Wire)
def test_a_tool_that_the_provider_would_run_is_refused_for_good_in_the_wires_own_form(gateway, tmp_path, wire):
    tool = {"googleSearch": {}} if wire is Wire.GEMINI else {"type": "web_search_20250305", "name": "web_search"}
    with providing(whole(wire)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask(PATHS[wire], asking(wire, tools=[tool]))
    assert (told.status, told.headers["x-should-retry"]) == (400, "false")
    assert "the provider would run it" in error_of(wire, told)["message"]
    assert (provider.asked, at.door.report().ends) == ([], {RequestEnd.REFUSED: 1})


@pytest.mark.parametrize("query", ["alt=proto", "alt=sse&alt=json", "fields=candidates", "beta=false", "x", "$alt=sse"])
@pytest.mark.parametrize("wire", Wire)
def test_a_query_that_could_change_the_answers_form_is_closed(gateway, tmp_path, wire, query):
    with providing(whole(wire)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask(f"{PATHS[wire]}?{query}", asking(wire))
    assert told.status == 400
    assert query in error_of(wire, told)["message"]
    assert (provider.asked, at.door.report().ends) == ([], {RequestEnd.NOT_OPEN: 1})


def test_a_session_asks_a_bounded_number_of_models(gateway, tmp_path):
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        statuses = [at.guest.ask(PATHS[Wire.CHAT], {"model": f"m{number}"}).status for number in range(66)]
        assert at.guest.ask(PATHS[Wire.CHAT], {"model": "m3"}).status == 200
    assert statuses == [200] * 64 + [400] * 2


KEY_SHOWN = [
    answer({"error": {"message": f"wrong key {KEY}"}}, status="401 No"),
    answer({**WHOLE[Wire.CHAT], "text": KEY}),
    stream({"choices": [{"delta": {"content": KEY}}]}),
    stream(f"data: {KEY[:9]}".encode(), KEY[9:].encode() + b"\n\n"),
    answer(WHOLE[Wire.CHAT], f"X-Echo: Bearer {KEY}"),
    answer(WHOLE[Wire.CHAT], f"Set-Cookie: k={KEY}"),
]


@pytest.mark.parametrize("reply", KEY_SHOWN, ids=["error", "answer", "stream", "split", "header", "cookie"])
def test_a_key_that_the_provider_shows_does_not_pass(gateway, tmp_path, reply):
    with providing(reply) as provider, at_door(gateway, tmp_path, provider.url) as at, at.guest.raw() as caller:
        body = json.dumps({"model": "m", "stream": True, "stream_options": {"include_usage": True}})
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        caller.sendall((head + body).encode())
        got = b""
        while piece := caller.recv(65536):
            got += piece
    assert KEY in "".join(value for asked in provider.asked for _, value in asked.headers)
    assert KEY.encode() not in got
    assert KEY.encode() not in at.door.log()
    assert KEY not in repr(at.door.report())


def test_a_key_is_in_no_repr_and_in_no_message():
    assert KEY not in repr(Upstream("p", frozenset(Wire), "http://x", KEY))
    for url, key in (("http://x/", KEY), ("ftp://x", KEY), (f"http://u:{KEY}@x", "k"), ("http://x", KEY + "\n")):
        with pytest.raises(SpecError) as caught:
            Upstream("p", frozenset(Wire), url, key)
        assert KEY not in str(caught.value)


def test_a_provider_without_a_key_gets_none(gateway, tmp_path):
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url, key="") as at:
        at.guest.ask(PATHS[Wire.CHAT], asking(Wire.CHAT), {"Authorization": "Bearer x"})
    assert provider.asked[0].header("Authorization") is None
