"""A session's door: real sandbox, real gateway, scripted provider."""

import json
from decimal import Decimal
from typing import Any

import pytest

from farm.model import (
    CellBudget,
    Digest,
    EventKind,
    FaultKind,
    Outcome,
    Price,
    PriceTable,
    RequestEnd,
    SessionReport,
    TokenUse,
    Usage,
    Wire,
    canonical_json,
)
from farm.model.keys import claim_key
from tests.builders.sandbox_rooms import system_python
from tests.builders.worker.asking import asks
from tests.builders.worker.farm import SHORT, Farm
from tests.builders.worker.working import FAST, Make, Run
from tests.services.provider import saying, serving
from worker.cell.recording import LineEnd
from worker.gateway import Gateway, Patience, Upstream

KEY = "sk-ant-the-real-key-of-this-worker"
HELLO = saying("hello", ordinary_input=100, cache_read=20, cache_write=0, output=7)
PRICES = PriceTable(
    models={"m": Price(input=Decimal(10), output=Decimal(100), cache_read=Decimal(1), cache_write=Decimal(1))}
)


def told(farm: Farm, url: str, wires: tuple[Wire, ...] = (Wire.ANTHROPIC,)) -> Farm:
    """Tell a farm's host where its provider is."""
    farm.upstreams["acme"] = Upstream("acme", frozenset(wires), url, KEY)
    return farm


def the_session(outcome: Outcome) -> SessionReport:
    assert outcome.evidence is not None, outcome.fault
    (session,) = outcome.evidence.sessions
    return session


def failing(status: int, **more: Any) -> dict[str, Any]:
    return {"rules": [{"reply": {"error": {"status": status, **more}}}]}


def test_what_goes_through_the_door_is_metered_and_the_real_key_stays_behind_it(farm: Make, run: Run) -> None:
    cell = farm(agent=asks("m"), provider="acme", plan_extra={"prices": Digest.of(canonical_json(PRICES))})
    cell.blobs.put(canonical_json(PRICES))
    with serving(HELLO) as provider:
        assert run(told(cell, provider.url)) is LineEnd.RECORDED
        (asked,) = provider.requests
    session = the_session(cell.outcome())
    assert (session.problem, session.final_answer) == (None, "hello")
    door = session.door
    assert door is not None
    assert (door.provider, door.origin, door.ends) == ("acme", provider.url, {RequestEnd.ANSWERED: 1})
    use = TokenUse(whole=120, ordinary_input=100, cache_read=20, cache_write=0, output=7)
    assert [(one.model, one.requests, one.tokens) for one in door.models] == [("m", 1, use)]
    assert session.metered_usage == Usage(
        input_tokens=120, cached_input_tokens=20, cache_write_tokens=0, output_tokens=7, thinking_tokens=None
    )
    assert session.metered_cost_usd == Decimal("0.00172")
    log = [json.loads(line) for line in cell.artifact("session.work.usage").splitlines()]
    assert [(line["model_asked"], line["status"]) for line in log] == [("m", 200)]
    assert KEY not in asked.line()  # the recorder keeps a digest of it
    assert all(KEY.encode() not in cell.blobs.get(one.digest) for one in cell.outcome().artifacts)


LOOK = """
import os, re, sys
WANTED = re.compile(b"sk-ant-" + b"the-real-[a-z-]+")
found, looked = [], 0
def look(place, size=1 << 26):
    global looked
    try:
        with open(place, "rb") as file:
            body = file.read(size)
    except OSError:
        return
    looked += 1
    if WANTED.search(body):
        found.append(place)
for process in (name for name in os.listdir("/proc") if name.isdigit()):
    look(f"/proc/{process}/environ")
    look(f"/proc/{process}/cmdline")
    try:
        maps = open(f"/proc/{process}/maps").read().splitlines()
        memory = open(f"/proc/{process}/mem", "rb", 0)
    except OSError:
        continue
    for line in maps:
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        try:
            memory.seek(start)
            body = memory.read(min(end - start, 1 << 26))
        except (OSError, ValueError, OverflowError):
            continue
        looked += 1
        if WANTED.search(body):
            found.append(f"{process} {line}")
for top in ("/run", "/tmp", "/home", "/cell", "/etc", "/opt", "/dev/shm"):
    for folder, _, names in os.walk(top):
        for name in names:
            place = os.path.join(folder, name)
            if os.path.isfile(place):
                look(place, 1 << 20)
print(f"looked at {looked} places: {found or 'nothing'}", end="")
"""


@pytest.mark.parametrize(("planted", "said"), [({}, "nothing"), ({"PLANTED": KEY}, "environ")])
def test_the_real_key_is_nowhere_in_the_sandbox(
    farm: Make, run: Run, monkeypatch: pytest.MonkeyPatch, planted: dict[str, str], said: str
) -> None:
    monkeypatch.setenv("ACME_KEY", KEY)  # as it stands in a worker's settings
    agent = asks("m")
    argv = [system_python(), "-I", "-S", "-c", LOOK]
    cell = farm(
        agent=agent.model_copy(update={"options": {"argv": argv, "wire": Wire.ANTHROPIC.value, "env": planted}}),
        provider="acme",
    )
    with serving(HELLO) as provider:
        run(told(cell, provider.url))
    outcome = cell.outcome()
    answer = the_session(outcome).final_answer
    assert answer is not None
    assert answer.startswith("looked at "), answer
    assert int(answer.split()[2]) > 50
    assert said in answer, answer


def test_a_session_without_a_provider_has_no_door(farm: Make, run: Run) -> None:
    cell = farm({"answer": {"text": "done"}})
    assert run(cell) is LineEnd.RECORDED
    assert the_session(cell.outcome()).door is None


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (failing(429, retry_after_s=7), FaultKind.RATE_LIMIT, "429"),
        (failing(529), FaultKind.PROVIDER, "529"),
        (failing(401), FaultKind.ACCESS, "401"),
    ],
)
def test_a_provider_that_fails_a_session_is_its_own_fault_and_never_the_arms(
    farm: Make, run: Run, reply: dict[str, Any], kind: FaultKind, words: str
) -> None:
    cell = farm(agent=asks("m"), provider="acme", timing=FAST)
    with serving(reply) as provider:
        run(told(cell, provider.url))
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, words in fault.detail) == (kind, True), fault
    assert fault.retry_after_s == (7.0 if kind is FaultKind.RATE_LIMIT else None)
    assert {one.role for one in cell.outcome().artifacts} >= {"session.work.usage", "session.work.events"}


def test_what_an_attempt_spent_before_its_provider_failed_it_is_kept_with_the_fault(farm: Make, run: Run) -> None:
    agent = asks("m", "m")
    cell = farm(agent=agent, provider="acme", timing=FAST, plan_extra={"prices": Digest.of(canonical_json(PRICES))})
    cell.blobs.put(canonical_json(PRICES))
    first = {"times": 1, **HELLO["rules"][0]}
    with serving({"rules": [first, {"reply": {"error": {"status": 429}}}]}) as provider:
        run(told(cell, provider.url))
    outcome = cell.outcome()
    assert outcome.fault is not None
    assert outcome.doors is not None
    assert [door.ends for door in outcome.doors] == [{RequestEnd.ANSWERED: 1, RequestEnd.RATE_LIMITED: 1}]
    assert outcome.cost_usd == Decimal("0.00172")


def test_an_attempt_that_began_no_session_spent_nothing(farm: Make, run: Run) -> None:
    cell = farm(agent=asks("m"), provider="acme")  # which this host was not told of
    run(cell)
    outcome = cell.outcome()
    assert outcome.fault is not None
    assert (outcome.doors, outcome.cost_usd) == ((), 0)


def test_an_agent_that_gets_over_a_failure_is_judged_by_its_work(farm: Make, run: Run) -> None:
    cell = farm(agent=asks("m", "m"), provider="acme")
    script = {
        "rules": [
            {"times": 1, "reply": {"error": {"status": 529}}},
            {"reply": {"text": "hello"}},
        ]
    }
    with serving(script) as provider:
        run(told(cell, provider.url))
    session = the_session(cell.outcome())
    assert (session.problem, session.final_answer) == (None, "hello")
    assert session.door is not None
    assert session.door.ends == {RequestEnd.ANSWERED: 1, RequestEnd.UNAVAILABLE: 1}


def test_a_provider_that_is_not_there_is_an_outage(farm: Make, run: Run) -> None:
    cell = farm(agent=asks("m"), provider="acme")
    run(told(cell, "http://127.0.0.1:9"))
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.PROVIDER


def test_a_session_that_ends_in_its_providers_silence_proves_nothing_about_its_arm(farm: Make, run: Run) -> None:
    limits = SHORT.model_copy(update={"wall_s": 3.0})
    cell = farm(agent=asks("m"), provider="acme", timing=FAST, limits=limits)
    cell.gateway = Gateway(cell.clock, Patience(stall_s=1.0))
    with serving({"rules": [{"reply": {"text": "hello", "stall": {"at": "headers"}}}]}) as provider:
        run(told(cell, provider.url))
    cell.gateway.close()
    fault = cell.outcome().fault
    assert fault is not None
    assert (fault.kind, "had been silent" in fault.detail) == (FaultKind.PROVIDER, True), fault


def test_what_a_provider_turns_away_is_told_to_the_coordinator_while_the_cell_runs(farm: Make, run: Run) -> None:
    cell = farm(agent=asks("m", "m"), provider="acme", timing=FAST)
    script = {
        "rules": [
            {"times": 1, "reply": {"error": {"status": 429, "retry_after_s": 3}}},
            {"reply": {"text": "ok", "latency_s": 1.0}},
        ]
    }
    with serving(script) as provider:
        run(told(cell, provider.url))
    (event,) = [event for event in cell.events.receive(cell.sweep, 0) if event.kind is EventKind.PRESSURE]
    assert event.pressure is not None
    assert (event.pressure.ends, event.pressure.retry_after_s) == ({RequestEnd.RATE_LIMITED: 1}, 3.0)


def test_a_cells_budget_ends_its_requests_and_is_the_arms_limit(farm: Make, run: Run) -> None:
    cell = farm(agent=asks(*["m"] * 9), provider="acme", plan_extra={"cell_budget": CellBudget(tokens=600)})
    with serving(HELLO) as provider:
        run(told(cell, provider.url))
        assert 0 < len(provider.requests) < 9
    session = the_session(cell.outcome())
    assert session.reason == "budget_limit"
    assert session.door is not None
    assert session.door.ends[RequestEnd.OVER_BUDGET] + len(provider.requests) == 9


def test_a_host_whose_provider_speaks_another_wire_says_so(farm: Make, run: Run) -> None:
    cell = farm(agent=asks("m"), provider="acme")
    run(told(cell, "http://127.0.0.1:9", (Wire.CHAT,)))
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.HOST
    assert "speaks chat, and the agent needs one of anthropic" in fault.detail


def test_a_host_that_lacks_what_an_arm_requires_takes_none_of_its_cells(farm: Make, run: Run) -> None:
    cell = farm({"answer": {"text": "done"}}, requires=("provider acme", "robot 1.2"))
    cell.offers = ("provider acme", "robot 1.1")
    assert run(cell) is LineEnd.REFUSED
    assert cell.records.read(claim_key(cell.sweep, cell.plan.cells[0].id, 1)) is None
    cell.offers = ("provider acme", "robot 1.2", "more")
    assert run(cell) is LineEnd.RECORDED
