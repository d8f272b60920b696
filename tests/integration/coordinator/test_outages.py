"""Outages: ports that fail now and then, at any call, cost time and nothing else."""

import random
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest

from farm.coordinator.loop import Coordinator, EndKind
from farm.errors import IntegrityError, TransientError
from farm.model import CloseReason, Digest, FaultKind, Result, Ticket, canonical_json, parse_record
from farm.model.keys import result_key
from tests.builders.sweeps import Farm, Finding, Worker, a_plan, evidence, fault, quick_retry


@dataclass
class Flaky:
    """A port that does not answer with some probability, before or after the work was done."""

    port: Any
    dice: random.Random
    chance: float

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.port, name)

        def call(*arguments: object) -> Any:
            if self.dice.random() < self.chance:
                raise TransientError(f"{name} did not answer")
            answer = method(*arguments)
            if name not in {"receive", "keys"} and self.dice.random() < self.chance:
                raise TransientError(f"{name} was done, and its answer was lost")
            return answer

        return call


@dataclass
class Switch:
    """A port that can be cut off."""

    port: Any
    is_cut: bool = False

    def __getattr__(self, name: str) -> Any:
        if self.is_cut:
            raise TransientError(f"{name}: no connection")
        return getattr(self.port, name)


@pytest.mark.parametrize("seed", range(12))
def test_a_sweep_gets_through_ports_that_fail_at_random(seed: int) -> None:
    farm = Farm(a_plan(trials=12, retry=quick_retry()))
    dice = random.Random(seed)  # noqa: S311 (dice, not secrets)

    def find(ticket: Ticket) -> Finding | None:
        if dice.random() < 0.1 and ticket.attempt < 3:
            return None if dice.random() < 0.5 else fault(FaultKind.HOST)
        return evidence()

    ports = farm.ports
    shaky = {each.name: Flaky(getattr(ports, each.name), dice, 0.05) for each in fields(ports) if each.name != "clock"}
    end = farm.run(farm.works(find), Coordinator(farm.sweep, "first", replace(ports, **shaky)))
    assert end.close is not None
    assert end.close.reason is CloseReason.COMPLETE
    assert len(farm.results()) == 24
    assert farm.seen[-1].done == 24


def test_an_outage_is_told_once_and_waited_out() -> None:
    farm = Farm(a_plan(trials=30))
    world, switch = farm.works(lambda _ticket: evidence()), Switch(farm.leases)

    def step(turn: int) -> None:
        switch.is_cut = 3 <= turn < 40
        world(turn)

    end = farm.run(step, Coordinator(farm.sweep, "first", replace(farm.ports, leases=switch)))  # type: ignore[arg-type]  # a proxy
    assert end.kind is EndKind.CLOSED
    told = [progress.waiting for progress in farm.seen if progress.waiting and "no connection" in progress.waiting]
    assert len(told) == 1


def test_an_outage_is_not_counted_as_a_worker_s_silence() -> None:
    farm = Farm(a_plan(trials=1))
    worker, switch = Worker(farm), Switch(farm.leases)

    def step(_turn: int) -> None:
        now_s = farm.clock.monotonic()
        for ticket in farm.dispatcher.take():
            worker.claim(ticket)
        if now_s < 3:
            farm.leases.forget(farm.sweep)  # wiped, just before it goes away for longer than a lost lease is waited for
        switch.is_cut = 3 <= now_s < 15
        if 15.5 <= now_s < 25:
            worker.renew()
        if now_s >= 25 and worker.held:
            worker.finish(0, evidence())
            worker.finish(1, evidence())

    end = farm.run(step, Coordinator(farm.sweep, "first", replace(farm.ports, leases=switch)))  # type: ignore[arg-type]  # a proxy
    assert end.close is not None
    assert (end.close.reason, farm.attempts(0), farm.attempts(1)) == (CloseReason.COMPLETE, [1], [1])
    assert farm.seen[-1].failed == 0


def test_an_outage_can_be_interrupted() -> None:
    farm = Farm(a_plan())
    end = farm.run(
        lambda turn: turn > 10,
        Coordinator(farm.sweep, "first", replace(farm.ports, leadership=Switch(farm.leadership, is_cut=True))),  # type: ignore[arg-type]  # a proxy
    )
    assert end.kind is EndKind.INTERRUPTED


def test_a_result_that_names_missing_bytes_is_told_to_a_person() -> None:
    farm = Farm(a_plan(trials=2))
    world = farm.works(lambda _ticket: evidence())

    def step(turn: int) -> None:
        world(turn)
        key = result_key(farm.sweep, farm.plan.cells[1].id)
        body = farm.records.bodies.get(key)
        if body is not None:
            changed = parse_record(Result, body, key).model_copy(update={"outcome": Digest("0" * 64)})
            farm.records.bodies[key] = canonical_json(changed)

    with pytest.raises(IntegrityError, match="names outcome"):
        farm.run(step)
    assert farm.leadership.lead(farm.sweep, "other", 1.0)
