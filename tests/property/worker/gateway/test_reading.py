"""Laws of reading what passes: no byte changes, no cut matters, nothing that a provider says breaks the log."""

import gzip
import json
from datetime import UTC, datetime

from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from farm.model import RequestEnd, Wire
from worker.gateway import Pass, Purse, Upstream
from worker.gateway.asking import Asked, read_body
from worker.gateway.coding import decoder
from worker.gateway.events import EventReader
from worker.gateway.exchange import Exchange, RequestRecord
from worker.gateway.ledger import Ledger
from worker.gateway.meters import Seen, read_event, read_whole
from worker.gateway.reading import AnswerHead, AnswerReader, KeyGuard, KeyShownError
from worker.gateway.routes import Route

NOW = datetime(2026, 11, 30, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["type", "message", "usage", "response", "delta", "error", "id", "model", "status", "choices", "usageMetadata",
     "modelVersion", "candidates", "promptFeedback", "message_start", "message_delta", "response.completed", "code"]
)  # fmt: skip
WORDS = st.sampled_from(["message_start", "message_delta", "message_stop", "error", "response.completed", "failed"])
BODY = st.recursive(JSON | WORDS, lambda inner: st.dictionaries(KEYS, inner, max_size=6), max_leaves=12)
PIECES = st.lists(
    st.sampled_from([b"data: x", b"\n", b"\r\n", b"\n\n", b"\r\n\r\n", b":", b"event: y\n", b"z" * 50, b"\r"]),
    max_size=40,
)


def cut(raw, sizes):
    chunks, at = [], 0
    for size in sizes:
        chunks.append(raw[at : at + size])
        at += size
    return [*chunks, raw[at:]]


@given(PIECES, st.lists(st.integers(1, 30), max_size=20), st.integers(60, 300))
def test_a_streams_pieces_are_the_stream_and_no_cut_matters(pieces, sizes, most):
    raw = b"".join(pieces)
    one, many = EventReader(10_000), EventReader(10_000)
    whole = [*one.feed(raw), *one.finish()]
    parts = [piece for chunk in cut(raw, sizes) for piece in many.feed(chunk)] + list(many.finish())
    assert whole == parts
    assert b"".join(piece.raw for piece in parts) == raw
    short = EventReader(most)
    bounded = [piece for chunk in cut(raw, sizes) for piece in short.feed(chunk)] + list(short.finish())
    assert b"".join(piece.raw for piece in bounded) == raw


@given(st.sampled_from(Wire), st.lists(BODY, max_size=4), st.booleans())
def test_nothing_that_a_provider_says_breaks_the_log(wire, bodies, streams):
    exchange = Exchange("POST", "/x", NOW, wire, Asked(("m",), b"", "", None), was_sent=True, status=200)
    for body in bodies:
        data = json.dumps(body).encode()
        (read_event if streams else read_whole)(wire, data, exchange.seen)
    ledger = Ledger(Pass(Upstream("p", frozenset(Wire), "http://x", ""), (), Purse(None, None)), 1 << 20)
    ledger.enter(exchange, RequestEnd.ANSWERED, NOW)
    assert RequestRecord.model_validate_json(ledger.log()).model_asked == "m"
    assert ledger.report().models[0].requests == 1


@given(st.binary(max_size=60) | st.sampled_from([b"[" * 200_000, b"1" * 5000, b'"\\ud800"']))
def test_bytes_that_are_no_json_are_malformed_at_most(data):
    for wire in Wire:
        read_event(wire, data, Seen())
        read_whole(wire, data, Seen())


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=5), st.booleans())
def test_a_chat_request_means_the_same_but_for_its_usage(extra, has_options):
    extra = {key: value for key, value in extra.items() if key.casefold() not in {"model", "stream", "stream_options"}}
    if len({key.casefold() for key in extra}) < len(extra):
        return
    options = {"stream_options": {"x": 1}} if has_options else {}
    body = json.dumps({**extra, "model": "m", "stream": True, **options}).encode()
    asked = read_body(Route(Wire.CHAT, "/x"), body, "", 1 << 20)
    if not isinstance(asked, Asked):  # `models`, `fallbacks` and half characters are refused
        return
    meant = {**json.loads(body), "stream_options": {**options.get("stream_options", {}), "include_usage": True}}
    assert json.dumps(json.loads(asked.body), sort_keys=True) == json.dumps(meant, sort_keys=True)


@given(st.binary(max_size=5000), st.lists(st.integers(1, 500), max_size=10))
def test_what_was_compressed_comes_out_however_it_is_cut(raw, sizes):
    for encoding, packed in (("gzip", gzip.compress(raw)), ("zstd", zstd.compress(raw)), ("identity", raw)):
        undo = decoder(encoding, 1 << 20)
        assert b"".join(piece for chunk in cut(packed, sizes) for piece in undo.feed(chunk)) == raw
        undo.finish()


@given(st.text("ab", max_size=40), st.lists(st.integers(1, 10), max_size=10))
def test_a_key_is_found_however_it_is_cut(text, sizes):
    key = "abababaa"
    guard, is_found = KeyGuard(key), False
    try:
        for chunk in cut(text.encode(), sizes):
            guard.check(chunk)
    except KeyShownError:
        is_found = True
    assert is_found == (key in text)


@given(st.binary(max_size=300), st.lists(st.integers(1, 100), max_size=10), st.sampled_from(["gzip", "zstd", "br", ""]))
def test_an_answer_passes_as_it_is_whatever_it_says_it_is(raw, sizes, encoding):
    for kind in ("text/event-stream", "application/json"):
        reader = AnswerReader(AnswerHead(Wire.CHAT, kind, encoding, hides_usage=False), Seen(), KeyGuard(""), 100)
        assert b"".join(reader.feed(chunk) for chunk in cut(raw, sizes)) + reader.finish() == raw
