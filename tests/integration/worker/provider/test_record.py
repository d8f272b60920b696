import gzip
import json
import sys
import zlib
from collections.abc import Callable

import pytest

from farm.model import Wire
from tests.builders import wires
from tests.services.provider import saying, serving
from worker.provider.record import digest_of_key

if sys.version_info >= (3, 14):
    from compression.zstd import compress as zstd
else:
    from backports.zstd import compress as zstd

KEY = "sk-very-secret-0123456789"


def test_every_request_is_recorded_with_what_it_was_answered() -> None:
    script = {"rules": [{"name": "hi", "when": {"prompt": "hello"}, "reply": {"text": "hi"}}]}
    with serving(script) as provider:
        wires.ask(provider.url, Wire.CHAT, "hello")
        wires.ask(provider.url, Wire.CHAT, "who are you?")
        wires.send(provider.url, "/v1/models?x=1", b"", method="GET")
    first, second, third = provider.requests
    assert (first.method, first.path, first.wire, first.model) == ("POST", "/v1/chat/completions", Wire.CHAT, "m1")
    assert (first.turn, first.rule, first.status) == (0, "hi", 200)
    assert json.loads(first.body) == wires.body_of(Wire.CHAT, "hello")
    assert (second.rule, second.status) == (None, 400)
    assert (third.method, third.path, third.wire, third.status) == ("GET", "/v1/models?x=1", None, 404)


def test_keys_are_told_by_their_digest_alone() -> None:
    headers = {"Authorization": f"Bearer {KEY}", "x-api-key": KEY, "X-Goog-Api-Key": KEY, "user-agent": "me"}
    with serving(saying("x")) as provider:
        path = f"/v1beta/models/m1:generateContent?key={KEY}&alt=json"
        wires.send(provider.url, path, json.dumps(wires.body_of(Wire.GEMINI)).encode(), headers)
    (recorded,) = provider.requests
    assert KEY not in recorded.line()
    assert recorded.headers["authorization"] == f"Bearer {digest_of_key(KEY)}"
    assert recorded.headers["x-api-key"] == recorded.headers["x-goog-api-key"] == digest_of_key(KEY)
    assert recorded.headers["user-agent"] == "me"
    assert recorded.path.endswith("&alt=json")


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd)])
def test_a_compressed_body_is_read_and_recorded_as_it_came(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(json.dumps(wires.body_of(Wire.CHAT)).encode())
    with serving(saying("x")) as provider:
        answer = wires.send(provider.url, "/v1/chat/completions", packed, {"content-encoding": encoding})
        cut = wires.send(provider.url, "/v1/chat/completions", packed[:-9], {"content-encoding": encoding})
        other = wires.send(provider.url, "/v1/chat/completions", b"no", {"content-encoding": encoding})
    assert [answer.status, cut.status, other.status] == [200, 400, 400]
    assert provider.requests[0].body == packed
    assert json.loads(provider.requests[0].line())["body"] == wires.body_of(Wire.CHAT)


def test_a_record_is_a_line_of_json() -> None:
    with serving(saying("x")) as provider:
        wires.ask(provider.url, Wire.ANTHROPIC, "naïve\nquestion")
    line = provider.requests[0].line()
    assert "\n" not in line
    told = json.loads(line)
    assert told["body"]["messages"] == [{"role": "user", "content": "naïve\nquestion"}]
    assert (told["wire"], told["status"], told["rule"]) == ("anthropic", 200, "rules[0]")
