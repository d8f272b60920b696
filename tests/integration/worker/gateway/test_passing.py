"""What goes through a door goes through as it came, but for the key."""

import gzip
import json

import pytest
from backports import zstd

from farm.model import RequestEnd, Wire
from tests.builders.gateway import KEY, a_gateway, at_door, quick
from tests.builders.native import (
    CHAT_CHUNK,
    CHAT_LAST,
    CHAT_USAGE,
    DONE,
    EVENTS,
    KEY_HEADERS,
    PATHS,
    STREAM_PATHS,
    TOKENS,
    WHOLE,
    asking,
    streamed,
    whole,
)
from tests.builders.raw_provider import answer, providing, sse, stream


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick()) as gateway:
        yield gateway


@pytest.mark.parametrize("wire", Wire)
def test_a_request_reaches_the_provider_as_it_came_with_the_real_key(gateway, tmp_path, wire):
    body = b'{ "unknown": [1.0, 1e2, "\\u2603"],"model" :"m", "stream":false}\n'
    headers = {"Authorization": "Bearer x", "x-api-key": "x", "x-goog-api-key": "x", "api-key": "x", "Cookie": "x=y"}
    with providing(whole(wire)) as provider, at_door(gateway, tmp_path, provider.url + "/base") as at:
        at.guest.ask(PATHS[wire] + "?beta=true", body, {**headers, "X-App": "1", "Accept-Encoding": "br"})
    (asked,) = provider.asked
    assert asked.body == body
    assert asked.line == f"POST /base{PATHS[wire]}?beta=true HTTP/1.1"
    name, form = KEY_HEADERS[wire]
    keys = {"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"}
    assert [(key.lower(), value) for key, value in asked.headers if key.lower() in keys] == [(name, form.format(KEY))]
    assert (asked.header("X-App"), asked.header("Accept-Encoding")) == ("1", "identity")
    assert asked.header("Host") == provider.url.removeprefix("http://")


@pytest.mark.parametrize("wire", Wire)
def test_a_stream_comes_back_byte_for_byte(gateway, tmp_path, wire):
    with providing(streamed(wire)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask(STREAM_PATHS[wire], asking(wire, streams=True))
    assert told.body == b"".join(map(sse, EVENTS[wire]))
    assert told.headers["Content-Type"] == "text/event-stream; charset=utf-8"


@pytest.mark.parametrize(("encoding", "encode"), [("gzip", gzip.compress), ("zstd", zstd.compress), ("", bytes)])
def test_a_compressed_request_passes_as_it_came_and_its_model_is_seen(gateway, tmp_path, encoding, encode):
    body = encode(json.dumps({"model": "m", "unknown": {"role": "system"}}).encode())
    headers = {"Content-Encoding": encoding} if encoding else {}
    with providing(whole(Wire.RESPONSES)) as provider, at_door(gateway, tmp_path, provider.url, models=("m",)) as at:
        assert at.guest.ask("/responses", body, headers).status == 200
    (asked,) = provider.asked
    assert (asked.body, asked.header("Content-Encoding") or "") == (body, encoding)


def test_a_body_that_comes_in_chunks_is_sent_whole(gateway, tmp_path):
    body = json.dumps({"model": "m", "text": "x" * 3_000_000}).encode()
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        connection = at.guest.connection()
        pieces = (body[at : at + 100_000] for at in range(0, len(body), 100_000))
        connection.request("POST", "/chat/completions", pieces, encode_chunked=True)
        assert connection.getresponse().read() == json.dumps(WHOLE[Wire.CHAT]).encode()
        connection.close()
    assert provider.asked[0].body == body


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ('{"model":"m" ,"stream": true}', '{"stream_options":{"include_usage":true},"model":"m" ,"stream": true}'),
        (
            '{"model":"m","stream_options": {"x": 1, "include_usage":false},"stream":true}',
            '{"model":"m","stream_options": {"x":1,"include_usage":true},"stream":true}',
        ),
        (
            '{"stream":true,"stream_options":null,"model":"m"}',
            '{"stream":true,"stream_options":{"include_usage":true},"model":"m"}',
        ),
    ],
)
def test_a_chat_stream_is_made_to_state_its_usage_and_the_client_does_not_see_it(gateway, tmp_path, asked, sent):
    with providing(streamed(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask("/v1/chat/completions", asked.encode())
    assert provider.asked[0].body.decode() == sent
    assert told.body == sse(CHAT_CHUNK) + DONE
    assert at.door.report().tokens == TOKENS[Wire.CHAT]


def test_a_chunk_that_a_client_could_see_anyway_is_not_hidden(gateway, tmp_path):
    last = {**CHAT_CHUNK, "usage": CHAT_USAGE}
    reply = stream(CHAT_CHUNK, last, DONE)
    with providing(reply) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask("/v1/chat/completions", {"model": "m", "stream": True})
    assert told.body == sse(CHAT_CHUNK) + sse(last) + DONE
    assert at.door.report().tokens == TOKENS[Wire.CHAT]


def test_the_usage_chunk_stays_where_it_was_asked_for(gateway, tmp_path):
    with providing(streamed(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask("/v1/chat/completions", asking(Wire.CHAT, streams=True))
    assert told.body == sse(CHAT_CHUNK) + sse(CHAT_LAST) + DONE


def test_connections_to_the_provider_are_kept_over_doors(gateway, tmp_path):
    with providing(whole(Wire.CHAT)) as provider:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            with at_door(gateway, tmp_path / name, provider.url) as at:
                for _ in range(3):
                    at.guest.ask("/v1/chat/completions", asking(Wire.CHAT))
        assert (len(provider.asked), provider.connections) == (6, 1)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 303])
def test_a_redirect_of_the_provider_is_not_followed(gateway, tmp_path, status):
    with providing(whole(Wire.CHAT)) as other:
        reply = answer({}, f"Location: {other.url}/v1/chat/completions", status=f"{status} Elsewhere")
        with providing(reply) as provider, at_door(gateway, tmp_path, provider.url) as at:
            told = at.guest.ask("/v1/chat/completions", asking(Wire.CHAT))
    assert (told.status, other.asked) == (400, [])
    assert at.door.report().ends == {RequestEnd.DENIED: 1}


def test_proxies_of_the_environment_are_not_used(gateway, tmp_path, monkeypatch):
    with providing(whole(Wire.CHAT)) as proxy, providing(whole(Wire.CHAT)) as provider:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        with at_door(gateway, tmp_path, provider.url) as at:
            assert at.guest.ask("/v1/chat/completions", asking(Wire.CHAT)).status == 200
    assert (len(provider.asked), proxy.asked) == (1, [])
