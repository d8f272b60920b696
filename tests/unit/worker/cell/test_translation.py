"""One report of two doors."""

from typing import Any

from farm.model import DoorReport, ModelUse, RequestEnd, TokenUse, Wire
from worker.cell.translation import as_one, can_translate
from worker.gateway import Upstream

USE = ModelUse(model="gpt-6.2", requests=2, tokens=TokenUse(whole=7, output=3))


def agents(**more: Any) -> DoorReport:
    odd = ModelUse(model="gpt-6.2", requests=9, tokens=TokenUse(whole=9))
    return DoorReport(provider="acme", origin="http://127.0.0.1:1", models=(odd,), unmeasured=1, **more)


def providers(**more: Any) -> DoorReport:
    return DoorReport(provider="acme", origin="https://acme.example", models=(USE,), is_priced=True, **more)


def test_use_is_counted_where_the_provider_answers_and_ends_where_the_agent_asks() -> None:
    ends = {RequestEnd.ANSWERED: 2, RequestEnd.REFUSED: 1}
    one = as_one(agents(ends=ends), providers(ends={RequestEnd.ANSWERED: 2}))
    assert one == providers(ends=ends)


def test_a_failure_is_told_as_the_provider_told_it() -> None:
    failure = {"last_failure": RequestEnd.DENIED, "last_failure_status": 401, "last_failure_detail": "401 no"}
    garbled = {"last_failure": RequestEnd.UNAVAILABLE, "last_failure_status": 500, "retry_after_s": 9.0}
    one = as_one(agents(**garbled), providers(**failure))
    assert (one.last_failure, one.last_failure_status, one.last_failure_detail) == (RequestEnd.DENIED, 401, "401 no")
    assert one.retry_after_s is None


def test_a_failure_that_the_session_got_over_is_none() -> None:
    one = as_one(agents(ends={RequestEnd.ANSWERED: 1}), providers(last_failure=RequestEnd.STALLED))
    assert one.last_failure is None


def test_a_failure_that_the_provider_does_not_know_of_is_told_as_the_agent_saw_it() -> None:
    one = as_one(agents(last_failure=RequestEnd.UNAVAILABLE, last_failure_detail="500 LiteLLM broke"), providers())
    assert (one.last_failure, one.last_failure_detail) == (RequestEnd.UNAVAILABLE, "500 LiteLLM broke")


def test_what_we_refuse_last_is_no_failure_of_the_provider() -> None:
    one = as_one(agents(last_failure=RequestEnd.REFUSED), providers(last_failure=RequestEnd.UNAVAILABLE))
    assert one.last_failure is RequestEnd.REFUSED


def test_a_budget_is_enforced_behind_litellm_and_told_as_a_budget() -> None:
    one = as_one(agents(ends={RequestEnd.REJECTED: 3}), providers(ends={RequestEnd.OVER_BUDGET: 2}))
    assert one.ends == {RequestEnd.OVER_BUDGET: 2, RequestEnd.REJECTED: 1}


def test_only_what_is_said_to_be_translated_is() -> None:
    speaks = frozenset({Wire.CHAT})
    assert not can_translate(Wire.ANTHROPIC, Upstream("a", speaks, "https://a", ""))
    assert can_translate(Wire.ANTHROPIC, Upstream("a", speaks, "https://a", "", frozenset({Wire.ANTHROPIC})))
    assert not can_translate(Wire.GEMINI, Upstream("a", speaks, "https://a", "", frozenset({Wire.ANTHROPIC})))
