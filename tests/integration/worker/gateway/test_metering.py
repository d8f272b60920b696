"""Native usage, metered at the provider's side from its own bodies."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from backports import zstd

from farm.model import NO_TOKENS, CellBudget, ModelUse, Price, PriceTable, RequestEnd, TokenUse, Wire
from tests.builders.gateway import a_gateway, at_door, quick
from tests.builders.native import (
    ANTHROPIC_USAGE,
    ASKED,
    EVENTS,
    PATHS,
    RESPONSES_USAGE,
    STREAM_PATHS,
    TOKENS,
    WHOLE,
    asking,
    streamed,
    whole,
)
from tests.builders.raw_provider import answer, chunk, providing, sse, stream
from worker.gateway import Purse
from worker.gateway.purse import Bound, OverBudget


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick()) as gateway:
        yield gateway


def records(door):
    return [json.loads(line) for line in door.log().splitlines()]


def metered(gateway, folder, wire, reply, *, streams=True):
    with providing(reply) as provider, at_door(gateway, folder, provider.url) as at:
        path = (STREAM_PATHS if streams else PATHS)[wire]
        at.answer = at.guest.ask(path, asking(wire, streams=streams))
    return at


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("wire", Wire)
def test_the_usage_of_each_wire_is_metered(gateway, tmp_path, wire, streams):
    reply = streamed(wire) if streams else whole(wire)
    at = metered(gateway, tmp_path, wire, reply, streams=streams)
    report = at.door.report()
    assert report.models == (ModelUse(model=ASKED, requests=1, tokens=TOKENS[wire]),)
    assert report.ends == {RequestEnd.ANSWERED: 1}
    assert report.unmeasured == 0
    (record,) = records(at.door)
    assert (record["model_asked"], record["model_answered"], record["response_id"]) == (ASKED, "model-answered", "r-1")
    assert (record["end"], record["status"], record["is_final"]) == ("answered", 200, True)


def test_what_a_later_anthropic_delta_states_replaces_what_the_start_stated(gateway, tmp_path):
    start, *_ = EVENTS[Wire.ANTHROPIC]
    first = {"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": 50}}
    stated = {"input_tokens": 10, "cache_read_input_tokens": None, "output_tokens": 120}
    last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": stated}
    at = metered(gateway, tmp_path, Wire.ANTHROPIC, stream(start, first, last, {"type": "message_stop"}))
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC].model_copy(update={"ordinary_input": 10, "whole": 45010})
    (record,) = records(at.door)
    assert record["native_usage"] == [{**ANTHROPIC_USAGE, "output_tokens": 1}, stated]


@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete", "response.failed"])
def test_each_last_event_of_responses_states_usage(gateway, tmp_path, kind):
    event = {"type": kind, "response": {**WHOLE[Wire.RESPONSES], "status": kind.removeprefix("response.")}}
    at = metered(gateway, tmp_path, Wire.RESPONSES, stream(event))
    assert at.door.report().tokens == TOKENS[Wire.RESPONSES]


@pytest.mark.parametrize(
    "iterations",
    [
        [{"type": "compaction", "input_tokens": 180_000}, {"type": "message", "input_tokens": 3000}],
        [{"type": "message", "input_tokens": 3000}, {"type": "message", "input_tokens": 3000}],
        [{}],
    ],
)
def test_usage_that_leaves_out_a_part_is_unmeasured(gateway, tmp_path, iterations):
    body = {**WHOLE[Wire.ANTHROPIC], "usage": {**ANTHROPIC_USAGE, "iterations": iterations}}
    at = metered(gateway, tmp_path, Wire.ANTHROPIC, answer(body), streams=False)
    assert (at.door.report().unmeasured, at.door.report().tokens) == (1, TokenUse())


@pytest.mark.parametrize("iterations", [[], None, [{"type": "message", "input_tokens": 3000}]])
def test_usage_of_one_answer_is_measured(gateway, tmp_path, iterations):
    body = {**WHOLE[Wire.ANTHROPIC], "usage": {**ANTHROPIC_USAGE, "iterations": iterations}}
    at = metered(gateway, tmp_path, Wire.ANTHROPIC, answer(body), streams=False)
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC]


PRICE = Price(input=Decimal(1), output=Decimal(1), cache_read=Decimal(1), cache_write=Decimal(1))


@pytest.mark.parametrize(
    ("told", "is_plain"),
    [
        ((Wire.ANTHROPIC, {"service_tier": "standard", "speed": "standard", "inference_geo": "global"}, {}), True),
        ((Wire.ANTHROPIC, {"server_tool_use": {"web_search_requests": 0}}, {}), True),
        ((Wire.ANTHROPIC, {"server_tool_use": {"web_search_requests": 2}}, {}), False),
        ((Wire.ANTHROPIC, {"service_tier": "priority"}, {}), False),
        ((Wire.ANTHROPIC, {"speed": "fast"}, {}), False),
        ((Wire.ANTHROPIC, {"inference_geo": "us"}, {}), False),
        ((Wire.RESPONSES, {}, {"service_tier": "default"}), True),
        ((Wire.RESPONSES, {}, {"service_tier": "flex"}), False),
        ((Wire.CHAT, {}, {"service_tier": "priority"}), False),
    ],
)
def test_what_no_table_prices_has_no_cost_and_keeps_its_tokens(gateway, tmp_path, told, is_plain):
    wire, usage, more = told
    purse = Purse(None, PriceTable(models={ASKED: PRICE}))
    body = {**WHOLE[wire], **more, "usage": {**WHOLE[wire]["usage"], **usage}}
    with providing(answer(body)) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
        at.guest.ask(PATHS[wire], asking(wire))
    assert at.door.report().tokens == TOKENS[wire]
    assert at.door.report().cost_usd == (Decimal("0.04812") if is_plain else None)


def test_gemini_has_said_its_last_word_when_its_stream_has_ended(gateway, tmp_path):
    first, last = WHOLE[Wire.GEMINI], WHOLE[Wire.GEMINI]
    first = {**first, "usageMetadata": {**first["usageMetadata"], "candidatesTokenCount": 1, "totalTokenCount": 48041}}
    at = metered(gateway, tmp_path, Wire.GEMINI, stream(first, last))
    assert at.door.report().tokens == TOKENS[Wire.GEMINI]

    async def open_end(reader, writer):
        writer.write(stream(first, end=b""))
        await reader.read()

    purse = Purse(CellBudget(tokens=100_000), None)
    (tmp_path / "two").mkdir()
    with (
        providing(open_end) as provider,
        at_door(gateway, tmp_path / "two", provider.url, purse=purse) as at,
        at.guest.raw() as caller,
    ):
        path = STREAM_PATHS[Wire.GEMINI]
        body = json.dumps(asking(Wire.GEMINI, generationConfig={"maxOutputTokens": 60_000})).encode()
        caller.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        while b"STOP" not in caller.recv(65536):
            pass
    assert (at.door.report().unmeasured, at.door.report().tokens) == (1, TokenUse())
    assert isinstance(purse.reserve(Bound("m", 0, 60_000)), OverBudget)


def test_usage_of_a_stream_that_broke_off_is_unmeasured_and_in_the_log(gateway, tmp_path):
    start, *_ = EVENTS[Wire.ANTHROPIC]
    at = metered(gateway, tmp_path, Wire.ANTHROPIC, stream(start))
    report = at.door.report()
    assert report.models == (ModelUse(model=ASKED, requests=1, tokens=TokenUse()),)
    assert (report.unmeasured, report.ends) == (1, {RequestEnd.MALFORMED: 1})
    (record,) = records(at.door)
    assert record["native_usage"] == [{**ANTHROPIC_USAGE, "output_tokens": 1}]
    assert (record["is_final"], record["tokens"]["whole"], record["tokens"]["output"]) == (False, 48000, 1)


@pytest.mark.parametrize(
    "contradiction",
    [{**RESPONSES_USAGE, "total_tokens": 1}, {**RESPONSES_USAGE, "input_tokens": 10, "total_tokens": 130}],
)
def test_usage_that_contradicts_itself_is_unmeasured_and_kept_as_it_came(gateway, tmp_path, contradiction):
    body = {**WHOLE[Wire.RESPONSES], "usage": contradiction}
    at = metered(gateway, tmp_path, Wire.RESPONSES, answer(body), streams=False)
    assert at.door.report().unmeasured == 1
    assert at.door.report().tokens == TokenUse()
    (record,) = records(at.door)
    assert record["native_usage"] == [contradiction]
    assert "usage:" in record["detail"]


@pytest.mark.parametrize("usage", [None, [], "48120", {}])
def test_an_answer_without_usage_is_answered_and_unmeasured(gateway, tmp_path, usage):
    at = metered(gateway, tmp_path, Wire.CHAT, answer({**WHOLE[Wire.CHAT], "usage": usage}), streams=False)
    report = at.door.report()
    assert (report.ends, report.unmeasured) == ({RequestEnd.ANSWERED: 1}, 1)
    assert report.tokens.whole is None


def test_a_refusal_by_status_used_nothing(gateway, tmp_path):
    at = metered(gateway, tmp_path, Wire.CHAT, answer({"error": {"message": "slow"}}, status="429 Too Many"))
    report = at.door.report()
    assert report.models == (ModelUse(model=ASKED, requests=1, tokens=NO_TOKENS),)
    assert report.unmeasured == 0


@pytest.mark.parametrize(("encoding", "encode"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
@pytest.mark.parametrize("streams", [False, True])
def test_a_compressed_answer_passes_as_it_is_and_is_metered(gateway, tmp_path, encoding, encode, streams):
    wire = Wire.ANTHROPIC
    plain = b"".join(map(sse, EVENTS[wire])) if streams else json.dumps(WHOLE[wire]).encode()
    kind = "text/event-stream" if streams else "application/json"
    packed = encode(plain)
    reply = answer(packed, f"Content-Encoding: {encoding}", content_type=kind)
    at = metered(gateway, tmp_path, wire, reply, streams=streams)
    assert (at.answer.body, at.answer.headers["Content-Encoding"]) == (packed, encoding)
    assert at.door.report().tokens == TOKENS[wire]


def test_an_answer_in_an_encoding_that_is_not_read_passes_unmeasured(gateway, tmp_path):
    at = metered(gateway, tmp_path, Wire.CHAT, answer(b"\x0b\x02", "Content-Encoding: br"), streams=False)
    assert at.answer.body == b"\x0b\x02"
    assert (at.door.report().unmeasured, at.door.report().ends) == (1, {RequestEnd.ANSWERED: 1})
    assert "'br'" in records(at.door)[0]["detail"]


def test_events_are_read_however_they_are_cut_into_chunks(gateway, tmp_path):
    raw = b"".join(map(sse, EVENTS[Wire.ANTHROPIC])).replace(b"\n", b"\r\n")

    async def reply(_reader, writer):
        writer.write(stream(end=b""))
        for byte in raw:
            writer.write(chunk(bytes([byte])))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    at = metered(gateway, tmp_path, Wire.ANTHROPIC, reply)
    assert at.answer.body == raw
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC]


def test_a_gemini_array_is_read_as_the_stream_that_it_is(gateway, tmp_path):
    at = metered(gateway, tmp_path, Wire.GEMINI, answer(list(EVENTS[Wire.GEMINI])))
    assert at.door.report().tokens == TOKENS[Wire.GEMINI]


def test_an_error_that_a_stream_tells_ends_its_request(gateway, tmp_path):
    start, *_ = EVENTS[Wire.ANTHROPIC]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    at = metered(gateway, tmp_path, Wire.ANTHROPIC, stream(start, error))
    report = at.door.report()
    assert report.ends == {RequestEnd.UNAVAILABLE: 1}
    assert (report.last_failure, report.last_failure_detail) == (RequestEnd.UNAVAILABLE, "200 Overloaded")
    assert at.pressure == [(RequestEnd.UNAVAILABLE, None)]


def test_case_81_sessions_at_one_time_are_told_apart_by_their_doors_and_by_nothing_that_they_say(gateway, tmp_path):
    several = range(4)
    claims = {"x-cell-id": "another", "x-litellm-tags": "cell-9", "authorization": "Bearer cell-9"}
    together = threading.Barrier(len(several), timeout=10)

    def ask(number, url):
        (tmp_path / f"{number}").mkdir()
        with at_door(gateway, tmp_path / f"{number}", url) as at:
            together.wait()
            for _ in range(number):
                at.guest.ask(PATHS[Wire.ANTHROPIC], asking(Wire.ANTHROPIC, streams=False), claims)
        return at.door.report().ends.get(RequestEnd.ANSWERED, 0)

    with providing(whole(Wire.ANTHROPIC)) as provider, ThreadPoolExecutor(len(several)) as pool:
        assert list(pool.map(ask, several, [provider.url] * len(several))) == list(several)
    assert "cell-9" not in str([asked.headers for asked in provider.asked])
