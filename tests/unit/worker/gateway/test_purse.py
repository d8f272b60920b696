"""What a request may use is taken out of the budget before, and put right after."""

from decimal import Decimal
from threading import Thread

import pytest

from farm.model import CellBudget, Price, PriceTable, TokenUse
from worker.gateway.purse import UNSTATED_OUTPUT, Bound, Hold, OverBudget, Purse

PRICE = Price(
    input=Decimal(4), output=Decimal(20), cache_read=Decimal("0.2"), cache_write=Decimal(5), cache_write_1h=Decimal(8)
)


def tokens(most):
    return Purse(CellBudget(tokens=most), None)


def usd(most, **prices):
    return Purse(CellBudget(cost_usd=Decimal(most)), PriceTable(models={"m": PRICE, **prices}))


def bound(body_bytes=100, most_output=10, **more):
    return Bound(model="m", body_bytes=body_bytes, most_output=most_output, **more)


def used(whole, output):
    return TokenUse(
        whole=whole, ordinary_input=whole, cache_read=0, cache_write=0, cache_write_1h=0, output=output, reasoning=0
    )


def test_a_reservation_is_half_a_token_a_byte_and_the_stated_output():
    assert tokens(1000).reserve(bound()) == Hold(bound(), 61, Decimal(0))


def test_an_output_without_a_bound_is_taken_for_a_large_one():
    assert tokens(10**6).reserve(bound(most_output=None)).tokens == 51 + UNSTATED_OUTPUT


def test_money_is_reserved_at_the_dearest_kind_of_input():
    assert usd("1").reserve(bound(2_000, 10)).cost_usd == (1001 * Decimal(8) + 10 * Decimal(20)) / 1_000_000


def test_two_requests_at_one_time_share_what_is_left():
    purse = tokens(121)
    assert isinstance(purse.reserve(bound()), Hold)
    assert isinstance(purse.reserve(bound()), OverBudget)


def test_what_was_measured_takes_the_place_of_what_was_reserved():
    purse = tokens(121)
    purse.settle(purse.reserve(bound()), used(5, 1), None)
    assert isinstance(purse.reserve(bound()), Hold)


def test_one_dense_request_makes_the_next_reservations_larger_and_none_makes_them_smaller():
    purse = tokens(10**6)
    purse.settle(purse.reserve(bound(100)), used(300, 1), None)
    assert purse.reserve(bound(100)).tokens == 301 + 10
    purse.settle(purse.reserve(bound(100)), used(1, 1), None)
    assert purse.reserve(bound(100)).tokens == 301 + 10


@pytest.mark.parametrize("unknown", [TokenUse(), TokenUse(output=5), TokenUse(whole=5)])
def test_what_is_unknown_stays_reserved(unknown):
    purse = tokens(121)
    purse.settle(purse.reserve(bound()), unknown, None)
    assert isinstance(purse.reserve(bound()), OverBudget)


def test_what_was_not_the_last_word_never_lowers_a_reservation():
    purse = tokens(121)
    purse.settle_unmeasured(purse.reserve(bound()), used(1, 1))
    assert isinstance(purse.reserve(bound()), OverBudget)
    purse = tokens(1000)
    purse.settle_unmeasured(purse.reserve(bound()), used(950, 1))
    assert isinstance(purse.reserve(bound()), OverBudget)


def test_a_released_reservation_is_as_if_it_had_not_been():
    purse = tokens(61)
    for _ in range(3):
        purse.release(purse.reserve(bound()))
    assert isinstance(purse.reserve(bound()), Hold)


def test_a_budget_of_money_asks_for_a_price():
    told = usd("1").reserve(Bound(model="other", body_bytes=1, most_output=1))
    assert told == OverBudget("the cell has a budget of 1 USD, and the price of 'other' is not known")


def test_what_may_cost_more_than_can_be_said_is_not_bounded():
    assert isinstance(tokens(10**9).reserve(bound(unbounded="service_tier")), OverBudget)
    assert isinstance(Purse(None, None).reserve(bound(unbounded="service_tier")), Hold)


def test_without_a_budget_all_is_allowed_and_costs_are_still_known():
    purse = Purse(None, PriceTable(models={"m": PRICE}))
    assert isinstance(purse.reserve(bound(10**9, 10**9)), Hold)
    assert purse.cost("m", used(1_000_000, 0)) == 4
    assert purse.cost("other", used(1, 0)) is None


def test_both_bounds_hold():
    purse = Purse(CellBudget(tokens=1000, cost_usd=Decimal("0.0001")), PriceTable(models={"m": PRICE}))
    assert isinstance(purse.reserve(bound()), OverBudget)
    purse = Purse(CellBudget(tokens=10, cost_usd=Decimal(1)), PriceTable(models={"m": PRICE}))
    assert isinstance(purse.reserve(bound()), OverBudget)


def test_threads_never_reserve_more_than_there_is():
    purse, taken = tokens(61 * 50), []
    threads = [Thread(target=lambda: taken.extend(purse.reserve(bound()) for _ in range(20))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(one, Hold) for one in taken) == 50
