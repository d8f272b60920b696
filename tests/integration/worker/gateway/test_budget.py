"""A cell's budget holds before the request that would pass it."""

import json
from decimal import Decimal

import pytest

from farm.model import CellBudget, Price, PriceTable, RequestEnd, Wire
from tests.builders.gateway import a_gateway, at_door, quick
from tests.builders.native import EVENTS, PATHS, asking, whole
from tests.builders.raw_provider import answer, providing, stream
from worker.gateway import Purse

PRICE = Price(input=Decimal(4), output=Decimal(20), cache_read=Decimal("0.2"), cache_write=Decimal(5))
PRICES = PriceTable(models={"model-asked": PRICE})
PATH = PATHS[Wire.ANTHROPIC]


@pytest.fixture(scope="module")
def gateway():
    with a_gateway(quick()) as gateway:
        yield gateway


def ask(at, **more):
    return at.guest.ask(PATH, asking(Wire.ANTHROPIC, **{"max_tokens": 100, **more}))


def test_a_request_that_might_pass_the_budget_is_not_sent(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=50_000), None)
    with providing(whole(Wire.ANTHROPIC)) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
        assert ask(at).status == 200  # it used 48120, much more than its body let one expect
        told = ask(at)
    assert (told.status, told.headers["x-should-retry"], len(provider.asked)) == (400, "false", 1)
    error = json.loads(told.body)
    assert (error["type"], error["error"]["type"]) == ("error", "invalid_request_error")
    assert "50000 tokens: 48120 are used" in error["error"]["message"]
    report = at.door.report()
    assert report.ends == {RequestEnd.ANSWERED: 1, RequestEnd.OVER_BUDGET: 1}
    assert report.last_failure is RequestEnd.OVER_BUDGET


def test_the_stated_output_counts_before_the_first_request(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=50_000), None)
    with providing(whole(Wire.ANTHROPIC)) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
        assert ask(at, max_tokens=50_000).status == 400
        assert ask(at, max_tokens=1000).status == 200
    assert len(provider.asked) == 1


def test_money_is_counted_by_the_price_table_and_told(gateway, tmp_path):
    purse = Purse(CellBudget(cost_usd=Decimal("0.08")), PRICES)
    with providing(whole(Wire.ANTHROPIC)) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
        assert [ask(at).status for _ in range(2)] == [200, 400]
        other = at.guest.ask(PATH, {"model": "unpriced", "max_tokens": 1})
    assert other.status == 400
    assert "the price of 'unpriced' is not known" in json.loads(other.body)["error"]["message"]
    report = at.door.report()
    assert report.cost_usd == Decimal("0.0282")  # 3000 * 4 + 44000 * 0.2 + 1000 * 5 + 120 * 20
    assert report.is_priced
    assert report.ends == {RequestEnd.ANSWERED: 1, RequestEnd.OVER_BUDGET: 2}


def test_the_budget_is_one_over_all_sessions_of_an_attempt(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=50_000), None)
    with providing(whole(Wire.ANTHROPIC)) as provider:
        for expected in (200, 400):
            with at_door(gateway, tmp_path, provider.url, purse=purse) as at:
                assert ask(at).status == expected


def test_what_was_not_measured_stays_reserved(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=1500), None)
    unmeasured = answer({"type": "message", "model": "m", "id": "x"})
    with providing(unmeasured) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
        assert [ask(at, max_tokens=1000).status for _ in range(2)] == [200, 400]


def test_what_was_seen_of_an_unfinished_stream_counts_when_it_is_more(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=48_500), None)
    broken = stream(EVENTS[Wire.ANTHROPIC][0])
    with providing(broken) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
        assert [ask(at, max_tokens=1000).status for _ in range(2)] == [200, 400]


def test_a_refusal_of_the_provider_gives_its_reservation_back(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=1500), None)
    with (
        providing(answer({}, status="429 No")) as provider,
        at_door(gateway, tmp_path, provider.url, purse=purse) as at,
    ):
        assert [ask(at, max_tokens=1000).status for _ in range(3)] == [429] * 3


def test_a_provider_that_is_not_reached_costs_nothing(gateway, tmp_path):
    purse = Purse(CellBudget(tokens=1500), None)
    with at_door(gateway, tmp_path, "http://127.0.0.1:9", purse=purse) as at:
        assert [ask(at, max_tokens=1000).status for _ in range(3)] == [502] * 3


def test_what_cannot_be_bounded_is_refused_under_a_budget(gateway, tmp_path):
    body = {"model": "m", "service_tier": "priority", "max_output_tokens": 1}
    for budget, expected in ((None, 200), (CellBudget(tokens=1_000_000), 400)):
        purse = Purse(budget, None)
        with providing(whole(Wire.RESPONSES)) as provider, at_door(gateway, tmp_path, provider.url, purse=purse) as at:
            assert at.guest.ask("/v1/responses", body).status == expected


def test_the_next_request_may_follow_the_last_event_at_once(gateway, tmp_path):
    """The stream's own end may come later than the agent's next request."""

    async def lingering(_reader, writer):
        writer.write(stream(*EVENTS[Wire.ANTHROPIC], end=b""))

    purse = Purse(CellBudget(tokens=140_000), None)
    with (
        providing(lingering, whole(Wire.ANTHROPIC)) as provider,
        at_door(gateway, tmp_path, provider.url, purse=purse) as at,
        at.guest.raw() as caller,
    ):
        body = json.dumps(asking(Wire.ANTHROPIC, streams=True, max_tokens=130_000)).encode()
        caller.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        got = b""
        while b"message_stop" not in got:
            piece = caller.recv(65536)
            assert piece
            got += piece
        assert ask(at, max_tokens=20_000).status == 200
