"""What a hostile guest sends to its door: nothing of it reaches the provider, and the door goes on."""

import gzip
import json
import resource
import socket
import time
from contextlib import ExitStack

import pytest
from backports import zstd

from farm.model import RequestEnd, Wire
from tests.builders.gateway import KEY, a_gateway, at_door, quick
from tests.builders.native import PATHS, asking, whole
from tests.builders.raw_provider import providing
from tests.services.waiting import wait_until

CHAT = PATHS[Wire.CHAT]
BODY = json.dumps(asking(Wire.CHAT)).encode()
MIB = 1 << 20


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick(most_connections=20)) as gateway:
        yield gateway


@pytest.fixture
def at(gateway, tmp_path):
    with providing(whole(Wire.CHAT)) as provider, at_door(gateway, tmp_path, provider.url + "/base") as at:
        at.provider = provider
        yield at


def request(line=f"POST {CHAT} HTTP/1.1", *headers, body=BODY):
    return "\r\n".join([line, "Host: x", f"Content-Length: {len(body)}", *headers]).encode() + b"\r\n\r\n" + body


def tell(guest, raw):
    """Send and read until the other side hangs up, or takes no more."""
    with guest.raw(timeout=3) as caller:
        got = b""
        try:
            caller.sendall(raw)
            while piece := caller.recv(65536):
                got += piece
        except (ConnectionError, TimeoutError):
            pass
        return got


def is_open(caller):
    """Send a little more of a head, and wait a little."""
    try:
        caller.sendall(b"X-More: x\r\n")
        return caller.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


def takes_callers(guest):
    return status(tell(guest, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) == 200


def is_hung_up_on(caller):
    try:
        return caller.recv(1) == b""
    except ConnectionError:
        return True


def status(got):
    return int(got.split(None, 2)[1]) if got else None


def ensure_open(at):
    before = len(at.provider.asked)
    assert at.guest.ask(CHAT, BODY).status == 200
    assert len(at.provider.asked) == before + 1


@pytest.mark.parametrize(
    "target",
    [
        "/../v1/chat/completions",
        "/v1/../admin",
        "/v1/chat/completions/..",
        "/v1/chat/completions/../../admin",
        "/v1/chat/completions%2f..%2f..%2fadmin",
        "/v1/%63hat/completions",
        "//evil.example/v1/chat/completions",
        "/v1//chat/completions",
        "/v1/chat/completions;x=y",
        "/v1/chat/completions/",
        "/V1/chat/completions",
        "/v1/chat/completions#x",
        "http://evil.example/v1/chat/completions",
        "http://127.0.0.1:1/v1/chat/completions",
        "@evil.example/v1/chat/completions",
        "*",
        "/v1beta/models/../x:generateContent",
        "/v1beta/models/a/b:generateContent",
        "/v1beta/models/m:generateContent:streamGenerateContent",
        "/v1/messages?" + "x" * 5000,
        "/v1/messages\\..\\admin",
    ],
)
def test_no_other_spelling_of_a_path_gets_out(at, target):
    got = tell(at.guest, request(f"POST {target} HTTP/1.1", "Connection: close"))
    assert status(got) in {400, 404}
    assert at.provider.asked == []
    ensure_open(at)


def test_a_tunnel_is_not_dug(at):
    got = tell(at.guest, b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n" + b"\x16\x03\x01" * 50)
    assert status(got) in {400, 404, 405}
    assert at.provider.asked == []
    ensure_open(at)


@pytest.mark.parametrize(
    "header",
    [
        "X-Bad: a\rAuthorization: b",
        "X-Bad: a\nAuthorization: b",
        "X-Bad: a\r\n\tAuthorization: b",
        "X-Bad : a",
        "X Bad: a",
        "X-Bad: \x00",
        "X-Bad: \x7f",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip",
        "Content-Length: 5",
        "Content-Length: +5",
        ": x",
    ],
)
def test_a_header_that_may_be_read_in_two_ways_is_refused(at, header):
    got = tell(at.guest, request(f"POST {CHAT} HTTP/1.1", header, "Connection: close"))
    assert status(got) in {400, None}
    assert at.provider.asked == []
    ensure_open(at)


def test_a_header_outside_of_ascii_is_refused(at):
    got = tell(at.guest, request().replace(b"Host: x", b"Host: x\r\nX-Bad: \xff\xfe\r\nConnection: close"))
    assert status(got) == 400
    assert at.provider.asked == []


def test_the_host_and_what_belongs_to_one_hop_stay_behind(at):
    headers = (
        "Connection: close, X-Secret, Authorization",
        "X-Secret: 1",
        "X-Forwarded-Host: evil.example",
        "Proxy-Authorization: Basic x",
        "Proxy-Connection: keep-alive",
        "Keep-Alive: timeout=1",
        "TE: trailers",
        "Trailer: X-Later",
        "Cookie: a=b",
    )
    assert (
        status(tell(at.guest, request(f"POST {CHAT} HTTP/1.1", *headers).replace(b"Host: x", b"Host: evil.example")))
        == 200
    )
    (asked,) = at.provider.asked
    names = {name.lower() for name, _ in asked.headers}
    assert names == {"host", "authorization", "accept-encoding", "content-length", "content-type"}
    assert asked.header("Host") == at.provider.url.removeprefix("http://")
    assert asked.header("Authorization") == f"Bearer {KEY}"


def test_requests_in_a_pipeline_are_answered_in_their_order(at):
    probe = b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
    got = tell(at.guest, request() + probe + request() + request(f"POST {CHAT} HTTP/1.1", "Connection: close"))
    statuses = [int(part.split(None, 1)[0]) for part in got.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200, 404, 200, 200]
    assert len(at.provider.asked) == 3


def test_a_request_that_is_hidden_in_a_body_stays_a_body(at):
    inner = request("POST /v1/messages HTTP/1.1")
    body = json.dumps({"model": "m", "text": inner.decode()}).encode()
    assert status(tell(at.guest, request(f"POST {CHAT} HTTP/1.1", "Connection: close", body=body))) == 200
    assert [asked.body for asked in at.provider.asked] == [body]


@pytest.mark.parametrize(
    "bomb",
    [
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(5000)),
        b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (8 * MIB),
        b"POST /" + b"y" * (8 * MIB),
        b"y" * (8 * MIB),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 1000,
    ],
    ids=["many headers", "a long header", "a long path", "a long method", "TLS"],
)
def test_a_head_that_does_not_end_is_bounded(at, bomb):
    assert status(tell(at.guest, bomb)) in {400, None}
    assert at.provider.asked == []
    ensure_open(at)


def test_a_head_that_drips_is_not_waited_for(at):
    with at.guest.raw() as caller:
        caller.sendall(b"POST /v1/messages HTTP/1.1\r\n")
        caller.settimeout(0.1)
        began = time.monotonic()
        while is_open(caller):
            assert time.monotonic() - began < 5
    ensure_open(at)


def test_more_connections_than_a_session_needs_are_turned_away(at):
    with ExitStack() as stack:
        callers = [stack.enter_context(at.guest.raw()) for _ in range(40)]
        assert all(is_hung_up_on(caller) for caller in callers[20:])
        for caller in callers[:20]:
            caller.setblocking(False)  # noqa: FBT003 (positional-only)
            with pytest.raises(BlockingIOError):
                caller.recv(1)
    wait_until(lambda: takes_callers(at.guest))
    ensure_open(at)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_body_that_swells_is_refused_before_it_is_whole(at, encoding):
    swollen = b'{"model":"m","x":"' + b"x" * (256 * MIB)
    packed = gzip.compress(swollen) if encoding == "gzip" else zstd.compress(swollen)
    del swollen
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got = tell(
        at.guest, request(f"POST {CHAT} HTTP/1.1", f"Content-Encoding: {encoding}", "Connection: close", body=packed)
    )
    assert status(got) == 413
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000
    assert at.provider.asked == []


def test_a_flood_of_refused_requests_fills_no_log(tmp_path):
    with a_gateway(quick(most_log_bytes=2000)) as small, at_door(small, tmp_path, "http://127.0.0.1:9") as at:
        connection = at.guest.connection()
        for _ in range(50):
            connection.request("POST", "/v1/files", b"{}")
            connection.getresponse().read()
        connection.close()
    lines = at.door.log().splitlines()
    assert sum(map(len, lines)) < 2100
    assert json.loads(lines[-1])["left_out"] == 50 - (len(lines) - 1)
    assert at.door.report().ends == {RequestEnd.NOT_OPEN: 50}


def test_a_guest_that_hangs_up_at_any_point_leaves_the_door_open(at):
    raw = request()
    for size in range(0, len(raw), 7):
        with at.guest.raw() as caller:
            caller.sendall(raw[:size])
            caller.shutdown(socket.SHUT_RDWR)
    ensure_open(at)
