"""The gateway meters what the scripted provider says; the two share no code, so each shows the other's slips."""

import http.client
import json

import pytest

from farm.model import RequestEnd, TokenUse, Wire
from tests.builders import wires
from tests.builders.gateway import a_gateway, at_door, quick
from tests.services.provider import saying, serving

GOLDEN = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
TOLD = {
    Wire.ANTHROPIC: TokenUse(whole=48000, ordinary_input=3000, cache_read=44000, cache_write=1000, output=120),
    Wire.RESPONSES: TokenUse(whole=48000, **GOLDEN),
    # these two have no word for what is written to the cache: it is ordinary input
    Wire.CHAT: TokenUse(whole=48000, **(GOLDEN | {"ordinary_input": 4000, "cache_write": 0})),
    Wire.GEMINI: TokenUse(whole=48000, **(GOLDEN | {"ordinary_input": 4000, "cache_write": 0})),
}
ALL = pytest.mark.parametrize("wire", list(Wire))
BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick(silence_s=0.3)) as gateway:
        yield gateway


def asked(gateway, folder, reply, wire, *, streamed):
    """Ask by a door, in words that the provider's own tests use."""
    body = json.dumps(wires.body_of(wire, streamed=streamed)).encode()
    with serving(reply) as provider, at_door(gateway, folder, provider.url) as at:
        try:
            at.answer = at.guest.ask(wires.path_of(wire, streamed=streamed), body)
        except (OSError, http.client.HTTPException):  # cut off, as it was told to
            at.answer = None
    return at


@ALL
@BOTH
def test_what_is_said_is_what_is_metered(gateway, tmp_path, wire, streamed):
    at = asked(gateway, tmp_path, saying("Grüße, all done.", **GOLDEN), wire, streamed=streamed)
    report = at.door.report()
    assert (report.tokens, report.unmeasured, report.ends) == (TOLD[wire], 0, {RequestEnd.ANSWERED: 1})


@ALL
@BOTH
def test_what_is_not_said_is_not_measured(gateway, tmp_path, wire, streamed):
    report = asked(gateway, tmp_path, saying("done"), wire, streamed=streamed).door.report()
    assert (report.unmeasured, report.ends) == (1, {RequestEnd.ANSWERED: 1})
    assert report.tokens.output is None


def replying(**reply):
    return {"rules": [{"reply": {"text": "a few words, for a few events", "usage": GOLDEN, **reply}}]}


@ALL
@pytest.mark.parametrize(
    ("reply", "ends"),
    [
        ({"malformed": "cut"}, {RequestEnd.CUT}),
        ({"malformed": "json"}, {RequestEnd.MALFORMED}),
        ({"malformed": "error"}, {RequestEnd.UNAVAILABLE, RequestEnd.RATE_LIMITED}),
        ({"stall": {"at": "stream"}}, {RequestEnd.STALLED}),
        ({"stall": {"at": "headers"}}, {RequestEnd.STALLED}),
    ],
    ids=["cut", "json", "error", "stall in the stream", "stall before it"],
)
def test_a_stream_that_fails_is_told_as_it_failed_and_counts_for_nothing(gateway, tmp_path, wire, reply, ends):
    report = asked(gateway, tmp_path, replying(**reply), wire, streamed=True).door.report()
    assert set(report.ends) <= ends
    assert (report.unmeasured, report.tokens.output) == (1, None)


@ALL
@BOTH
@pytest.mark.parametrize("chunk_bytes", [1, 7])
def test_it_makes_no_difference_how_an_answer_is_sent(gateway, tmp_path, wire, streamed, chunk_bytes):
    report = asked(gateway, tmp_path, replying(chunk_bytes=chunk_bytes), wire, streamed=streamed).door.report()
    assert (report.tokens, report.unmeasured) == (TOLD[wire], 0)


@ALL
@pytest.mark.parametrize(
    ("status", "end"),
    [(401, RequestEnd.DENIED), (429, RequestEnd.RATE_LIMITED), (529, RequestEnd.UNAVAILABLE)],
)
def test_an_error_is_told_in_the_providers_words(gateway, tmp_path, wire, status, end):
    script = {"rules": [{"reply": {"error": {"status": status, "message": "not now", "retry_after_s": 3}}}]}
    at = asked(gateway, tmp_path, script, wire, streamed=True)
    report = at.door.report()
    assert at.answer.status == status
    assert (report.ends, report.last_failure_detail) == ({end: 1}, f"{status} not now")
    assert report.retry_after_s == (None if end is RequestEnd.DENIED else 3)
