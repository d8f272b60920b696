"""A door whose provider does not speak the agent's wire: real sandbox, gateway and LiteLLM, scripted provider."""

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from farm.adapters.system_clock import SystemClock
from farm.model import (
    CellBudget,
    Digest,
    DoorReport,
    EventKind,
    FaultKind,
    Pin,
    Price,
    PriceTable,
    RequestEnd,
    SessionReport,
    TokenUse,
    Wire,
    canonical_json,
)
from farm.plugins import Plugins
from tests.builders.worker.asking import asks
from tests.builders.worker.farm import GIVEN, SHORT, Farm
from tests.builders.worker.working import FAST, Make, Run
from tests.services.provider import saying, serving
from tests.services.waiting import wait_until
from worker.agents.claude_code import ClaudeCodeAgent
from worker.cell.recording import LineEnd
from worker.gateway import Upstream
from worker.translator import Translator

KEY = "sk-the-real-key-of-this-worker"
MODEL = "gpt-6.2"
USAGE = {"ordinary_input": 3000, "cache_read": 44000, "cache_write": 1000, "output": 120, "reasoning": 40}
HELLO = saying("hello", **USAGE)
USE = TokenUse(whole=48000, ordinary_input=3000, cache_read=44000, cache_write=1000, output=120, reasoning=40)


class Kept(Translator):
    """One for all tests, whose lines come and go: it takes seconds to start."""

    @override
    def close(self) -> None:
        if self._child is not None and not self._child.is_alive():
            super().close()


@pytest.fixture(scope="module")
def translator() -> Iterator[Translator]:
    made = Kept(SystemClock())
    yield made
    Translator.close(made)


@pytest.fixture
def translated(farm: Make, translator: Translator) -> Make:
    def make(url: str, *wires: Wire, **changes: Any) -> Farm:
        made = farm(**{"agent": asks(MODEL), "provider": "acme", **changes})
        speaks = frozenset(wires or (Wire.RESPONSES,))
        made.upstreams["acme"] = Upstream("acme", speaks, url, KEY, frozenset({Wire.ANTHROPIC}))
        made.translator = translator
        return made

    return make


def the_session(cell: Farm) -> SessionReport:
    evidence = cell.outcome().evidence
    assert evidence is not None, cell.outcome().fault
    (session,) = evidence.sessions
    return session


def the_door(cell: Farm) -> DoorReport:
    door = the_session(cell).door
    assert door is not None
    return door


def failing(status: int, **more: Any) -> dict[str, Any]:
    return {"rules": [{"reply": {"error": {"status": status, **more}}}]}


def test_what_the_provider_says_it_used_is_what_counts(translated: Make, run: Run) -> None:
    price = Price(input=Decimal(1), output=Decimal(10), cache_read=Decimal("0.1"), cache_write=Decimal(2))
    prices = PriceTable(models={MODEL: price})
    with serving(HELLO) as provider:
        cell = translated(provider.url, plan_extra={"prices": Digest.of(canonical_json(prices))})
        cell.blobs.put(canonical_json(prices))
        assert run(cell) is LineEnd.RECORDED
        (asked,) = provider.requests
    assert the_session(cell).final_answer == "hello"
    door = the_door(cell)
    assert (door.provider, door.origin, door.ends) == ("acme", provider.url, {RequestEnd.ANSWERED: 1})
    assert [(one.model, one.requests, one.tokens) for one in door.models] == [(MODEL, 1, USE)]
    assert door.cost_usd == price.cost(USE)
    assert (asked.wire, asked.model) == (Wire.RESPONSES, MODEL)
    (line,) = [json.loads(line) for line in cell.artifact("session.work.usage").splitlines()]
    assert (line["wire"], line["native_usage"][0]["input_tokens_details"]) == (
        "responses",
        {"cached_tokens": 44000, "cache_write_tokens": 1000},
    )
    assert all(KEY.encode() not in cell.blobs.get(one.digest) for one in cell.outcome().artifacts)


def test_a_provider_that_speaks_chat_is_asked_by_chat(translated: Make, run: Run) -> None:
    with serving(HELLO) as provider:
        cell = translated(provider.url, Wire.CHAT)
        run(cell)
        (asked,) = provider.requests
    assert asked.wire is Wire.CHAT
    use = USE.model_copy(update={"ordinary_input": 4000, "cache_write": 0})  # this wire does not tell them apart
    assert [one.tokens for one in the_door(cell).models] == [use]


def test_a_provider_that_speaks_the_agents_wire_itself_is_asked_by_it(translated: Make, run: Run) -> None:
    with serving(HELLO) as provider:
        cell = translated(provider.url, Wire.ANTHROPIC, Wire.RESPONSES)
        run(cell)
        (asked,) = provider.requests
    assert asked.wire is Wire.ANTHROPIC


@pytest.mark.parametrize("wire", [Wire.RESPONSES, Wire.CHAT])
@pytest.mark.parametrize(
    ("status", "kind"), [(401, FaultKind.ACCESS), (429, FaultKind.RATE_LIMIT), (529, FaultKind.PROVIDER)]
)
def test_a_failure_is_told_as_the_provider_told_it(
    translated: Make, run: Run, status: int, kind: FaultKind, wire: Wire
) -> None:
    reply = failing(status, **({"retry_after_s": 7} if status == 429 else {}))
    with serving(reply) as provider:
        cell = translated(provider.url, wire, agent=asks(MODEL, MODEL), timing=FAST)
        run(cell)
        assert len(provider.requests) == 2, "LiteLLM neither asks again by itself nor keeps a request back"
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, f"provider 'acme': {status} the script says so" in fault.detail) == (kind, True), fault
    assert f'"errors": [{status}, {status}]'.encode() in cell.artifact("session.work.events"), "to the agent, too"
    assert fault.retry_after_s == (7.0 if kind is FaultKind.RATE_LIMIT else None)


def test_a_provider_that_is_not_there_is_an_outage(translated: Make, run: Run) -> None:
    cell = translated("http://127.0.0.1:9")
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, "can't be reached" in fault.detail) == (FaultKind.PROVIDER, True), fault


def test_pressure_is_told_once_a_failed_request(translated: Make, run: Run) -> None:
    script = {
        "rules": [
            {"times": 1, "reply": {"error": {"status": 429, "retry_after_s": 3}}},
            {"reply": {"text": "ok", "latency_s": 1.0}},
        ]
    }
    with serving(script) as provider:
        cell = translated(provider.url, agent=asks(MODEL, MODEL), timing=FAST)
        run(cell)
    (event,) = [event for event in cell.events.receive(cell.sweep, 0) if event.kind is EventKind.PRESSURE]
    assert event.pressure is not None
    assert (event.pressure.ends, event.pressure.retry_after_s) == ({RequestEnd.RATE_LIMITED: 1}, 3.0)


def test_a_cells_budget_holds_behind_the_translation_and_is_the_arms_limit(translated: Make, run: Run) -> None:
    with serving(saying("hello", ordinary_input=100, cache_read=20, cache_write=0, output=7)) as provider:
        cell = translated(provider.url, agent=asks(*[MODEL] * 9), plan_extra={"cell_budget": CellBudget(tokens=600)})
        run(cell)
        assert 0 < len(provider.requests) < 9
    assert the_session(cell).reason == "budget_limit"
    assert the_door(cell).ends[RequestEnd.OVER_BUDGET] + len(provider.requests) == 9


def test_the_real_claude_code_asks_an_openai_model(translated: Make, run: Run, agents_folder: Path) -> None:
    script = {
        "default_usage": USAGE,
        "rules": [{"turns": [{"tools": [{"write": {"path": "new.txt", "text": "new\n"}}]}, {"answer": "Done."}]}],
    }
    plugins = Plugins({**GIVEN, "agents": {"claude-code": ClaudeCodeAgent}})
    pin = Pin(name="claude-code", version="1", options={"model": MODEL})
    with serving(script) as provider:
        cell = translated(provider.url, agent=pin, plugins=plugins, agents=agents_folder)
        assert run(cell) is LineEnd.RECORDED
        assert {(one.wire, one.model) for one in provider.requests} == {(Wire.RESPONSES, MODEL)}
    session = the_session(cell)
    assert (session.problem, session.final_answer, session.tool_calls) == (None, "Done.", {"Write": 1})
    (use,) = the_door(cell).models
    assert (use.requests, use.tokens) == (2, USE.plus(USE))
    assert session.usage is not None
    assert session.usage.output_tokens == use.tokens.output, "and the agent has heard the same"
    assert b"new.txt" in cell.artifact("patch")


def test_a_session_that_is_cut_off_cuts_off_its_request_at_the_provider(translated: Make, run: Run) -> None:
    script = {"rules": [{"reply": {"text": "late", "stall": {"at": "headers"}}}]}
    with serving(script) as provider:
        cell = translated(provider.url, limits=SHORT.model_copy(update={"wall_s": 3.0}))
        run(cell)
    door = the_door(cell)
    assert (door.ends, door.last_failure, door.unmeasured) == (
        {RequestEnd.CLIENT_GONE: 1},
        RequestEnd.CLIENT_GONE,
        1,
    )


def test_a_litellm_that_dies_is_this_hosts_fault_and_told_with_its_log(
    translated: Make, run: Run, translator: Translator
) -> None:
    def kill() -> None:
        wait_until(lambda: bool(provider.requests))
        child = translator._child
        assert child is not None
        child.process.kill()

    with serving({"rules": [{"reply": {"text": "late", "stall": {"at": "headers"}}}]}) as provider:
        killing = threading.Thread(target=kill)
        killing.start()
        cell = translated(provider.url)
        run(cell)
        killing.join()
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, "LiteLLM ended by itself; its log" in fault.detail) == (FaultKind.HOST, True), fault
