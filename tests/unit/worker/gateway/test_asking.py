"""What a body says is read without changing it."""

import gzip
import json
import time

import pytest

from farm.model import Wire
from worker.gateway.asking import Asked, read_body
from worker.gateway.routes import LocalAnswer, Route

MOST = 10_000


def read(wire, body, *, model=None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_body(Route(wire, "/x", model), raw, "", MOST)


@pytest.mark.parametrize(
    ("wire", "body", "most"),
    [
        (Wire.ANTHROPIC, {"max_tokens": 7}, 7),
        (Wire.ANTHROPIC, {"max_tokens": None}, None),
        (Wire.ANTHROPIC, {"max_output_tokens": 7}, None),
        (Wire.RESPONSES, {"max_output_tokens": 7}, 7),
        (Wire.CHAT, {"max_tokens": 7}, 7),
        (Wire.CHAT, {"max_completion_tokens": 9, "max_tokens": 7}, 9),
        (Wire.CHAT, {"max_tokens": 7, "n": 3}, 21),
        (Wire.CHAT, {"max_tokens": 7, "n": 0}, 7),
        (Wire.GEMINI, {"generationConfig": {"maxOutputTokens": 7}}, 7),
        (Wire.GEMINI, {"generationConfig": {"maxOutputTokens": 7, "candidateCount": 2}}, 14),
        (Wire.GEMINI, {"generation_config": {"max_output_tokens": 7, "candidateCount": 2}}, 14),
        (Wire.GEMINI, {"generation_config": {"maxOutputTokens": 7, "candidate_count": 2}}, 14),
        (Wire.GEMINI, {"generationConfig": None}, None),
    ],
)
def test_the_most_output_is_what_the_wire_calls_it(wire, body, most):
    assert read(wire, {"model": "m", **body}, model="m").bound.most_output == most


def test_the_bound_is_of_the_decompressed_body():
    body = b'{ "model" : "m" }'
    assert read(Wire.ANTHROPIC, body).bound.body_bytes == len(body)


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (Wire.ANTHROPIC, {"max_tokens": True}),
        (Wire.ANTHROPIC, {"max_tokens": -7}),
        (Wire.ANTHROPIC, {"max_tokens": 7.0}),
        (Wire.ANTHROPIC, {"max_tokens": "7"}),
        (Wire.CHAT, {"max_tokens": 7, "n": 1.5}),
        (Wire.GEMINI, {"generationConfig": {"maxOutputTokens": "7"}}),
        (Wire.GEMINI, {"generationConfig": {"maxOutputTokens": 7, "max_output_tokens": 8}}),
        (Wire.GEMINI, {"generationConfig": {"maxOutputTokens": 7}, "generation_config": {"maxOutputTokens": 8}}),
    ],
)
def test_a_bound_that_is_no_whole_number_or_is_said_twice_is_refused(wire, body):
    assert isinstance(read(wire, {"model": "m", **body}, model="m"), LocalAnswer)


@pytest.mark.parametrize(
    ("key", "value", "ordinary"),
    [
        ("service_tier", "priority", "auto"),
        ("speed", "fast", "standard"),
        ("inference_geo", "us", "global"),
        ("speed", 7, None),
        ("context_management", {"edits": [{"type": "compact_20260112"}]}, {"edits": [{"type": "clear_thinking_1"}]}),
    ],
)
def test_what_costs_more_than_its_bytes_and_output_is_named(key, value, ordinary):
    assert read(Wire.ANTHROPIC, {"model": "m", key: value}).bound.unbounded == key
    assert read(Wire.ANTHROPIC, {"model": "m", key: ordinary}).bound.unbounded is None


@pytest.mark.parametrize("model", ["", " ", "a b", "\ud800", "m" * 257, "sm\u00f8rrebr\u00f8d", 7, None, ["m"]])
def test_what_is_no_models_name_is_refused(model):
    assert isinstance(read(Wire.CHAT, {"model": model}), LocalAnswer)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","MODEL":"n"}',
        b'{"MODEL":"n","model":"m"}',
        b'{"model":"m","Model":"n"}',
        '{"stream":false,"model":"m","\u017ftream":true}'.encode(),
        b'{"model":"m" "x":1}',
        b'{"model":"m","tools":[{"type":"function","type":"web_search"}]}',
        b'{"model" "m"}',
        b'{"model":"m",1:2}',
        b"{model:1}",
        b'{"model":"m"} x',
        b"{} x",
        b"null",
    ],
)
def test_what_providers_may_read_in_different_ways_is_refused(body):
    assert isinstance(read(Wire.CHAT, body), LocalAnswer)


@pytest.mark.parametrize(
    "body",
    [
        b'\t{ "x" : { "model" : "n", "x" : {"model" : "o" }} , "model":"m"\n}\r\n ',
        b'{"model":"m","x":[[],{},"}",",",null,1e5,-0.0,true]}',
    ],
)
def test_any_way_to_lay_out_json_is_read(body):
    asked = read(Wire.CHAT, body)
    assert isinstance(asked, Asked)
    assert (asked.models, asked.body) == (("m",), body)


def test_only_a_streamed_chat_request_is_changed():
    for wire in (Wire.ANTHROPIC, Wire.RESPONSES, Wire.GEMINI):
        body = b'{"model":"m","stream":true}'
        assert read(wire, body, model="m").body == body
    for stream in (False, None, "true", 1):
        body = json.dumps({"model": "m", "stream": stream}).encode()
        assert read(Wire.CHAT, body).body == body


@pytest.mark.parametrize(
    "inside",
    [b"[" + b"[]," * 9_000_000 + b"[]]", b"[" + b",".join([b"9" * 4300] * 7000) + b"]"],
    ids=["lists", "digits"],
)
def test_a_body_is_not_read_whose_values_would_take_long_to_build(inside):
    raw = b'{"model":"m","messages":' + inside + b"}"
    began = time.process_time()
    assert isinstance(read_body(Route(Wire.CHAT, "/x"), raw, "", 1 << 25), LocalAnswer)
    assert time.process_time() - began < 0.5


def test_an_object_of_very_many_keys_is_not_read():
    few, many = (b'{"model":"m",' + b",".join(b'"%d":0' % n for n in range(count)) + b"}" for count in (900, 1100))
    assert isinstance(read(Wire.CHAT, few), Asked)
    assert isinstance(read_body(Route(Wire.CHAT, "/x"), many, "", 1 << 25), LocalAnswer)


def test_a_compressed_body_may_grow_as_text_does():
    text = json.dumps({"model": "m", "text": "".join(f"line {n}\n" for n in range(300_000))}).encode()
    bomb = json.dumps({"model": "m", "text": " " * 3_000_000}).encode()
    route, most = Route(Wire.CHAT, "/x"), 1 << 25
    assert isinstance(read_body(route, gzip.compress(text), "gzip", most), Asked)
    assert isinstance(read_body(route, gzip.compress(bomb), "gzip", most), LocalAnswer)
