"""Whatever goes wrong on one side of a door ends in time on the other, each in its own way."""

import asyncio
import json
import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from farm.model import NO_TOKENS, RequestEnd, TokenUse, Wire
from tests.builders.gateway import a_gateway, at_door, quick
from tests.builders.native import EVENTS, PATHS, STREAM_PATHS, TOKENS, asking, streamed, whole
from tests.builders.raw_provider import answer, chunk, providing, sse, stream
from tests.services.waiting import wait_until

CHAT = PATHS[Wire.CHAT]
START = sse(EVENTS[Wire.ANTHROPIC][0])


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick(most_body_bytes=100_000, most_held_bytes=150_000)) as gateway:
        yield gateway


def ask_raw(guest, path, body):
    """Ask without reading; gives the socket."""
    caller = guest.raw()
    raw = json.dumps(body).encode()
    caller.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw)
    return caller


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def read_all(caller):
    """Read until the connection ends, however it does."""
    got = b""
    try:
        while piece := caller.recv(65536):
            got += piece
    except ConnectionError:
        pass
    return got


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (400, RequestEnd.REJECTED),
        (401, RequestEnd.DENIED),
        (402, RequestEnd.DENIED),
        (403, RequestEnd.REJECTED),
        (408, RequestEnd.UNAVAILABLE),
        (409, RequestEnd.REJECTED),
        (404, RequestEnd.REJECTED),
        (429, RequestEnd.RATE_LIMITED),
        (500, RequestEnd.UNAVAILABLE),
        (503, RequestEnd.UNAVAILABLE),
        (529, RequestEnd.UNAVAILABLE),
    ],
)
def test_a_providers_error_passes_as_it_is_and_is_told(gateway, tmp_path, status, end):
    error = {"type": "error", "error": {"type": "x", "message": "no,\nnot now"}}
    reply = answer(error, "request-id: req-1", "retry-after: 7", status=f"{status} Whatever")
    with providing(reply) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask("/v1/messages", asking(Wire.ANTHROPIC))
    assert (told.status, json.loads(told.body)) == (status, error)
    assert (told.headers["request-id"], told.headers["retry-after"]) == ("req-1", "7")
    report = at.door.report()
    assert report.ends == {end: 1}
    assert (report.last_failure, report.last_failure_detail) == (end, f"{status} no, not now")
    is_pressure = end is not RequestEnd.REJECTED
    assert at.pressure == ([(end, 7.0)] if is_pressure else [])
    assert report.retry_after_s == (7.0 if is_pressure and end is not RequestEnd.DENIED else None)


@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        ("Retry-After: 60", True),
        ("Retry-After: 61", False),
        ("retry-after-ms: 60001", False),
        ("Retry-After: Infinity", False),
        (f"Retry-After: {format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)}", False),
    ],
    ids=["a minute", "more", "in milliseconds", "for ever", "a date"],
)
def test_an_agent_is_not_told_to_wait_for_longer_than_a_minute(gateway, tmp_path, asked, is_told):
    limited = answer({}, asked, status="429 Too Many")
    with providing(limited) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask(CHAT, asking(Wire.CHAT))
    assert bool({"retry-after", "retry-after-ms"} & {name.lower() for name in told.headers}) is is_told
    assert at.door.report().ends == {RequestEnd.RATE_LIMITED: 1}


def test_an_answer_after_a_failure_clears_it(gateway, tmp_path):
    limited = answer({}, "retry-after: 7", status="429 Too Many")
    with providing(limited, whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        at.guest.ask(CHAT, asking(Wire.CHAT))
        at.guest.ask(CHAT, asking(Wire.CHAT))
    report = at.door.report()
    assert (report.last_failure, report.last_failure_detail, report.retry_after_s) == (None, None, None)
    assert report.ends == {RequestEnd.RATE_LIMITED: 1, RequestEnd.ANSWERED: 1}


def test_an_agent_that_hangs_up_on_its_providers_failure_does_not_undo_it(gateway, tmp_path):
    async def silent(reader, _writer):
        await reader.read()

    with providing(answer({}, status="529 No"), silent) as provider, at_door(gateway, tmp_path, provider.url) as at:
        at.guest.ask(CHAT, asking(Wire.CHAT))
        with ask_raw(at.guest, CHAT, asking(Wire.CHAT)):
            wait_until(lambda: len(provider.asked) == 2)
    report = at.door.report()
    assert report.ends == {RequestEnd.UNAVAILABLE: 1, RequestEnd.CLIENT_GONE: 1}
    assert report.last_failure is RequestEnd.UNAVAILABLE


def test_what_the_door_refuses_is_told_as_the_doors_own(gateway, tmp_path):
    with at_door(gateway, tmp_path, "http://127.0.0.1:9", models=("other",)) as at:
        at.guest.ask(CHAT, asking(Wire.CHAT))
    assert at.door.report().last_failure_detail.startswith("the farm's own door refused it: the model ")


def test_a_date_to_wait_for_is_read(gateway, tmp_path):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    limited = answer({}, f"Retry-After: {date}", status="429 Too Many")
    with providing(limited) as provider, at_door(gateway, tmp_path, provider.url) as at:
        at.guest.ask(CHAT, asking(Wire.CHAT))
    assert 90 < at.door.report().retry_after_s <= 100


def test_a_provider_that_is_not_there_is_told_in_the_wires_own_form(gateway, tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with at_door(gateway, tmp_path, f"http://127.0.0.1:{unused.getsockname()[1]}") as at:
            told = at.guest.ask("/v1/messages", asking(Wire.ANTHROPIC))
    assert told.status == 502
    assert json.loads(told.body)["error"]["type"] == "api_error"
    report = at.door.report()
    assert (report.ends, report.models, report.unmeasured) == ({RequestEnd.UNAVAILABLE: 1}, (), 0)
    assert at.pressure == [(RequestEnd.UNAVAILABLE, None)]


async def hang_up(_reader, writer):
    writer.close()


async def stay_silent(reader, _writer):
    await reader.read()


def after(head):
    """Write `head`, and nothing more."""

    async def reply(reader, writer):
        writer.write(head)
        await reader.read()

    return reply


def test_a_provider_that_hangs_up_without_an_answer_is_unavailable_and_unmeasured(gateway, tmp_path):
    with providing(hang_up) as provider, at_door(gateway, tmp_path, provider.url) as at:
        assert at.guest.ask(CHAT, asking(Wire.CHAT)).status == 502
    assert (at.door.report().ends, at.door.report().unmeasured) == ({RequestEnd.UNAVAILABLE: 1}, 1)


def test_a_provider_that_is_silent_before_its_answer_is_given_up(gateway, tmp_path):
    with providing(stay_silent) as provider, at_door(gateway, tmp_path, provider.url) as at:
        began = time.monotonic()
        told = at.guest.ask(CHAT, asking(Wire.CHAT))
        assert 0.4 < time.monotonic() - began < 5
    assert told.status == 504
    assert (at.door.report().ends, at.door.report().unmeasured) == ({RequestEnd.STALLED: 1}, 1)


def test_a_provider_that_does_not_take_the_request_is_given_up_and_nothing_of_it_stays(tmp_path):
    with a_gateway(quick(connect_s=0.2)) as gateway, socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        with at_door(gateway, tmp_path, url) as at:
            before = open_files()
            told = at.guest.ask(CHAT, {**asking(Wire.CHAT), "text": "x" * 20_000_000})
            wait_until(lambda: open_files() <= before)
    assert told.status == 504
    assert at.door.report().ends == {RequestEnd.STALLED: 1}


def test_a_provider_that_is_silent_in_the_middle_cuts_the_stream_off(gateway, tmp_path):
    with providing(after(stream(EVENTS[Wire.ANTHROPIC][0], end=b""))) as provider:
        with (
            at_door(gateway, tmp_path, provider.url) as at,
            ask_raw(at.guest, "/v1/messages", asking(Wire.ANTHROPIC)) as caller,
        ):
            got = read_all(caller)
        assert START in got
        assert not got.endswith(b"0\r\n\r\n")
    assert (at.door.report().ends, at.door.report().unmeasured) == ({RequestEnd.STALLED: 1}, 1)


def test_comments_and_pings_are_no_silence(gateway, tmp_path):
    async def reply(_reader, writer):
        writer.write(stream(end=b""))
        for _ in range(8):
            await asyncio.sleep(0.1)
            writer.write(chunk(b": still there\n\n"))
        writer.write(b"".join(chunk(sse(event)) for event in EVENTS[Wire.ANTHROPIC]) + b"0\r\n\r\n")

    with providing(reply) as provider, at_door(gateway, tmp_path, provider.url) as at:
        at.guest.ask("/v1/messages", asking(Wire.ANTHROPIC))
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC]


@pytest.mark.parametrize(
    "reply",
    [
        stream(*EVENTS[Wire.ANTHROPIC][:3]),
        stream(EVENTS[Wire.ANTHROPIC][0], b"data: {no json\n\n"),
        stream(EVENTS[Wire.ANTHROPIC][0], end=b"zz\r\n"),
        answer(b"<html>", content_type="text/html"),
        answer(b"{half", content_type="application/json"),
        b"SSH-2.0-nothing\r\n\r\n",
    ],
    ids=["no end", "no JSON in an event", "no chunk", "HTML", "no JSON", "no HTTP"],
)
def test_an_answer_that_is_not_what_its_wire_says_is_malformed_and_unmeasured(gateway, tmp_path, reply):
    assert_ends(gateway, tmp_path, reply, RequestEnd.MALFORMED)


@pytest.mark.parametrize(
    "reply",
    [
        stream(EVENTS[Wire.ANTHROPIC][0], end=b""),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{}",
    ],
    ids=["cut", "too short"],
)
def test_an_answer_whose_connection_breaks_is_cut_and_unmeasured(gateway, tmp_path, reply):
    assert_ends(gateway, tmp_path, reply, RequestEnd.CUT)


def assert_ends(gateway, tmp_path, reply, end):
    """Ask once, and hear `reply` and then the connection's end."""

    async def once(_reader, writer):
        writer.write(reply)
        await writer.drain()
        writer.close()

    with providing(once) as provider, at_door(gateway, tmp_path, provider.url) as at:
        caller = ask_raw(at.guest, "/v1/messages", asking(Wire.ANTHROPIC, streams=True))
        read_all(caller)
        caller.close()
    assert (at.door.report().ends, at.door.report().unmeasured) == ({end: 1}, 1)
    assert bool(at.pressure) is (end is RequestEnd.CUT)


def test_a_bad_event_in_a_stream_that_ends_well_is_malformed_and_measured(gateway, tmp_path):
    events = (EVENTS[Wire.ANTHROPIC][0], b"data: {no json\n\n", *EVENTS[Wire.ANTHROPIC][1:])
    with providing(stream(*events)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        told = at.guest.ask("/v1/messages", asking(Wire.ANTHROPIC, streams=True))
    assert told.body == b"".join(map(sse, events))
    assert at.door.report().ends == {RequestEnd.MALFORMED: 1}
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC]


def test_an_agent_that_hangs_up_ends_the_providers_request(gateway, tmp_path):
    with providing(after(stream(EVENTS[Wire.ANTHROPIC][0], end=b""))) as provider:
        with at_door(gateway, tmp_path, provider.url) as at:
            with ask_raw(at.guest, "/v1/messages", asking(Wire.ANTHROPIC, streams=True)) as caller:
                wait_until(lambda: START in caller.recv(65536, socket.MSG_PEEK))
            wait_until(lambda: at.door.report().ends == {RequestEnd.CLIENT_GONE: 1}, 0.4)  # before the silence ends it
        report = at.door.report()
    assert (report.unmeasured, report.tokens) == (1, TokenUse())


def test_an_agent_that_hangs_up_when_it_has_all_was_answered(gateway, tmp_path):
    unended = after(streamed(Wire.ANTHROPIC).removesuffix(b"0\r\n\r\n"))
    with providing(unended) as provider, at_door(gateway, tmp_path, provider.url) as at:
        with ask_raw(at.guest, "/v1/messages", asking(Wire.ANTHROPIC, streams=True)) as caller:
            wait_until(lambda: b"message_stop" in caller.recv(65536, socket.MSG_PEEK))
        wait_until(lambda: at.door.report().ends == {RequestEnd.ANSWERED: 1}, 0.4)
    assert at.door.report().tokens == TOKENS[Wire.ANTHROPIC]


def test_an_agent_that_does_not_read_is_hung_up_on(gateway, tmp_path):
    async def flood(_reader, writer):
        writer.write(stream(end=b""))
        while True:
            writer.write(chunk(b": " + b"x" * 65536 + b"\n\n"))
            await writer.drain()

    with providing(flood) as provider, at_door(gateway, tmp_path, provider.url) as at:
        with ask_raw(at.guest, "/v1/messages", asking(Wire.ANTHROPIC, streams=True)):
            wait_until(lambda: at.door.report().ends == {RequestEnd.SLOW_READER: 1}, 5)
        wait_until(lambda: provider.hung_up == 1)


def test_a_body_that_is_too_large_is_refused_however_it_comes(gateway, tmp_path):
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        stated = at.guest.ask(CHAT, b'{"model":"m","x":"%b"}' % (b"x" * 100_000))
        connection = at.guest.connection()
        connection.request("POST", CHAT, iter([b"x" * 60_000] * 2), encode_chunked=True)
        chunked = connection.getresponse()
        assert (stated.status, chunked.status) == (413, 413)
        connection.close()
    assert json.loads(stated.body)["error"]["type"] == "invalid_request_error"
    assert provider.asked == []
    assert at.door.report().ends == {RequestEnd.TOO_LARGE: 2}


def test_the_bodies_of_a_session_together_are_bounded(gateway, tmp_path):
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n".encode()
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        callers = [at.guest.raw() for _ in range(2)]
        for caller in callers:
            caller.sendall(head + b"x" * 80_000)
        wait_until(lambda: at.door.report().ends.get(RequestEnd.TOO_LARGE) == 1)
        for caller in callers:
            caller.close()
    assert provider.asked == []


def test_a_body_that_does_not_come_is_not_waited_for(gateway, tmp_path):
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        caller = at.guest.raw()
        caller.sendall(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{{".encode())
        assert read_all(caller) == b""
        caller.close()
    assert (provider.asked, at.door.report().ends) == ([], {RequestEnd.CLIENT_GONE: 1})


def test_a_door_that_closes_ends_what_still_runs(gateway, tmp_path):
    with providing(stay_silent) as provider:
        with at_door(gateway, tmp_path, provider.url) as at:
            callers = [ask_raw(at.guest, CHAT, asking(Wire.CHAT)) for _ in range(5)]
            wait_until(lambda: len(provider.asked) == 5)
        report = at.door.report()
        assert report.ends == {RequestEnd.CLIENT_GONE: 5}
        assert all(read_all(caller) == b"" for caller in callers)
        for caller in callers:
            caller.close()
    assert not (tmp_path / "door").exists()
    assert len(at.door.log().splitlines()) == 5


@pytest.mark.parametrize("beginning", [b"", stream(EVENTS[Wire.ANTHROPIC][0], end=b"")], ids=["head", "stream"])
@pytest.mark.parametrize("who", ["agent", "session"])
def test_whoever_ends_in_a_long_silence_the_provider_has_stalled(tmp_path, beginning, who):
    with a_gateway(quick(silence_s=20, stall_s=0.2)) as gateway, providing(after(beginning)) as provider:
        with at_door(gateway, tmp_path, provider.url) as at:
            caller = ask_raw(at.guest, "/v1/messages", asking(Wire.ANTHROPIC, streams=True))
            wait_until(lambda: len(provider.asked) == 1)
            with pytest.raises(TimeoutError):
                drain(caller, 0.3)
            if who == "agent":
                caller.close()
                wait_until(lambda: at.door.report().ends != {})
        caller.close()
    assert at.door.report().ends == {RequestEnd.STALLED: 1}
    assert at.pressure == [(RequestEnd.STALLED, None)]


def drain(caller, silence_s):
    """Read until nothing comes for `silence_s`."""
    caller.settimeout(silence_s)
    while caller.recv(65536):
        pass


def test_a_refusal_is_no_model_use(gateway, tmp_path):
    with providing(answer({}, status="401 No")) as provider, at_door(gateway, tmp_path, provider.url) as at:
        at.guest.ask(CHAT, asking(Wire.CHAT))
    assert at.door.report().tokens == NO_TOKENS


def test_a_second_door_works_while_another_is_full_of_stalled_requests(gateway, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with (
        providing(stay_silent) as silent,
        providing(whole(Wire.CHAT)) as provider,
        at_door(gateway, tmp_path / "one", silent.url) as one,
        at_door(gateway, tmp_path / "two", provider.url) as at,
    ):
        callers = [ask_raw(one.guest, CHAT, asking(Wire.CHAT)) for _ in range(20)]
        assert at.guest.ask(CHAT, asking(Wire.CHAT)).status == 200
        for caller in callers:
            caller.close()
    assert at.door.report().tokens == TOKENS[Wire.CHAT]


@pytest.mark.parametrize("wire", Wire)
def test_the_agents_connection_is_kept_after_an_answer(gateway, tmp_path, wire):
    with providing(streamed(wire)) as provider, at_door(gateway, tmp_path, provider.url) as at:
        connection = at.guest.connection()
        for _ in range(3):
            connection.request("POST", STREAM_PATHS[wire], json.dumps(asking(wire, streams=True)))
            assert connection.getresponse().read() == b"".join(map(sse, EVENTS[wire]))
        connection.close()
    assert at.door.report().ends == {RequestEnd.ANSWERED: 3}
