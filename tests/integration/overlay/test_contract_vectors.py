"""The contract's worked lifecycles and retries, played through coordinator, finalizer and gate."""

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from farm.coordinator.loop import CoordinatorEnd
from farm.coordinator.ports import Rhythm
from farm.finalizer.finalize import Finalized, finalize
from farm.gates.overlay import OverlayGate
from farm.gates.overlay.sample import exit_reason
from farm.model import (
    AttemptCleanup,
    Decision,
    DispatchPolicy,
    EventKind,
    Evidence,
    Fault,
    FaultKind,
    Measured,
    Metric,
    MetricSource,
    Pin,
    RetryPolicy,
    StopReason,
    Ticket,
    canonical_json,
)
from farm.model.keys import attempt_cleanup_key, claim_key
from farm.testing.clock import FakeClock
from tests.builders.sweeps import Farm, Worker, a_plan, evidence

VECTORS = json.loads((Path(__file__).parents[2] / "data/overlay-vectors.json").read_text())["vectors"]
METRIC = Metric(name="calls", source=MetricSource.TOOL_CALLS, key="Bash", minimum=0)
GATE = OverlayGate()
QUICK = Rhythm(receive_s=0.001, leases_s=0.002, orders_s=0.001, absence_s=0.01)
"""The contract's cases are over in milliseconds."""
ONLY_RATE_LIMITS = RetryPolicy(most_attempts=4, kinds=frozenset({FaultKind.RATE_LIMIT}))


def expected(vector: str) -> dict:
    return next(each["expected"] for each in VECTORS if each["id"] == vector)


def given(vector: str) -> dict:
    return next(each["input"] for each in VECTORS if each["id"] == vector)


def right() -> Evidence:
    found = evidence()
    session = found.sessions[0].model_copy(update={"final_answer": "done", "tool_calls": {"Bash": 1}})
    return found.model_copy(update={"sessions": (session,), "metrics": (Measured(name="calls", value=1),)})


class LiveClock(FakeClock):
    """While somebody waits, the rest of the world goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.world: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.world()
        super().sleep(seconds)


@dataclass
class Case:
    """One case of the contract: its farm, one worker, and what that worker does at each turn."""

    farm: Farm
    worker: Worker
    turn: Callable[["Case"], None]
    taken: list[Ticket] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def step(self, _turn: int = 0) -> None:
        self.taken += [ticket for ticket in self.farm.dispatcher.take() if self.worker.claim(ticket)]
        self.turn(self)
        self.farm.clock.advance(0.001)

    @property
    def is_stopped(self) -> bool:
        return self.farm.signals.stop_reason(self.farm.sweep) is not None

    def clean(self, index: int, problem: str | None = None) -> None:
        """Record an outcome's clean-up and give the lease back."""
        lease = self.worker.held.pop(index)
        record = AttemptCleanup(cell=lease.cell, attempt=lease.attempt, done=problem is None, problem=problem)
        self.farm.records.create(attempt_cleanup_key(lease.sweep, lease.cell, lease.attempt), canonical_json(record))
        self.farm.leases.release(lease)
        self.removed.append(lease.cell)

    def end(self) -> tuple[CoordinatorEnd, Finalized]:
        ended = self.farm.run(self.step, self.farm.coordinator(rhythm=QUICK))
        return ended, finalize(self.farm.sweep, self.farm.finalizer_ports, lambda _name: GATE, lambda _input: {})


def a_case(vector: str, turn: Callable[[Case], None]) -> Case:
    clock = LiveClock()
    numbers = given(vector)
    options = {"metric": METRIC.name, "planned": numbers["trials"]}
    plan = a_plan(
        trials=numbers["trials"],
        metrics=(METRIC,),
        dispatch=DispatchPolicy(most_outstanding=2 * numbers["concurrencyPerArm"]),
        retry=ONLY_RATE_LIMITS,
        deadline_s=numbers["workMs"] / 1000,
        grace_s=numbers["graceMs"] / 1000,
        gates=(Pin(name="overlay", version="4", options=GATE.policy(options, ("task",))),),
    )
    case = Case(Farm(plan, clock=clock), Worker(None), turn)  # type: ignore[arg-type]  # it is hired in the next line
    case.worker.farm = case.farm
    clock.world = case.step
    return case


def hang(case: Case) -> None:
    case.worker.renew()


def obey(case: Case) -> None:
    """Write a last file when told to stop, and settle ten milliseconds later."""
    case.worker.renew()
    if case.is_stopped:
        case.farm.clock.advance(0.01)
        for index in tuple(case.worker.held):
            case.worker.finish(index, Fault(kind=FaultKind.CANCELLED, detail=StopReason.DEADLINE))


def succeed(case: Case) -> None:
    for index in tuple(case.worker.held):
        case.worker.finish(index, right())


def succeed_and_leave_one_workspace(case: Case) -> None:
    for index in tuple(case.worker.held):
        case.worker.record(case.worker.held[index], right())
        case.clean(index, "cleanup failed: x" if index == 0 else None)


def fail_to_record(case: Case) -> None:
    """Lose the right to the attempt without a record, as a worker whose store is away does."""
    for index in tuple(case.worker.held):
        case.farm.leases.release(case.worker.held.pop(index))


def first_trial_succeeds(case: Case) -> None:
    case.worker.renew()
    for index in tuple(case.worker.held):
        if case.farm.plan.cells[index].trial == 1:
            case.worker.finish(index, right())
    obey(case)


def succeed_and_clean_for_ever(case: Case) -> None:
    for index in tuple(case.worker.held):
        lease = case.worker.held[index]
        case.worker.record(lease, right())
        case.farm.hint(EventKind.FINISHED, index, lease.attempt)
        case.farm.leases.renew(lease, 30.0)


BEHAVIOURS = {
    "L02": hang,
    "L04": obey,
    "L05": succeed_and_leave_one_workspace,
    "L06": fail_to_record,
    "L07": first_trial_succeeds,
    "L08": succeed_and_clean_for_ever,
}


@pytest.mark.parametrize("vector", BEHAVIOURS)
def test_a_lifecycle_ends_as_published(vector: str) -> None:
    case = a_case(vector, BEHAVIOURS[vector])
    _, done = case.end()
    table = done.report.table
    reasons = [exit_reason(row, METRIC, table.lifecycle) for row in table.rows]
    started = [row for row in table.rows if row.attempts]
    observed = {
        "passed": done.report.verdicts[0].decision is Decision.PASS,
        "timedOut": table.lifecycle.timed_out,
        "cleanupIncomplete": table.lifecycle.cleanup_incomplete,
        "planned": len(table.rows),
        "started": len(started),
        "aggregates": len(done.report.verdicts),
        "validRecorded": reasons.count("success"),
        "timeoutRecorded": sum(row.attempts > 0 for row in table.rows if row.unsettled),
        "cleanupCalls": len(case.removed),
        "recordAttempts": len(started),
    }
    wanted = {name: value for name, value in expected(vector).items() if name in observed}
    assert {name: observed[name] for name in wanted} == wanted


def test_a_late_completion_changes_nothing() -> None:
    case = a_case("L02", hang)
    _, done = case.end()
    for index in tuple(case.worker.held):
        case.worker.finish(index, right(), with_result=False)
    again = finalize(case.farm.sweep, case.farm.finalizer_ports, lambda _name: GATE, lambda _input: {})
    assert (again.seal, again.report.verdicts) == (done.seal, done.report.verdicts)


RETRIES = {
    "R01": [FaultKind.RATE_LIMIT],
    "R03": [FaultKind.RATE_LIMIT],
    "R05": [FaultKind.RATE_LIMIT] * 4,
    "R06": [FaultKind.PROVIDER],
}


@pytest.mark.parametrize("vector", RETRIES)
def test_rate_limits_are_tried_again_as_published(vector: str) -> None:
    plan = a_plan(trials=1, retry=ONLY_RATE_LIMITS)
    farm = Farm(plan.model_copy(update={"cells": plan.cells[:1]}))
    faults = iter(RETRIES[vector])
    starts: list[float] = []

    def find(_ticket: Ticket) -> Evidence | Fault:
        starts.append(farm.clock.monotonic())
        kind = next(faults, None)
        return right() if kind is None else Fault(kind=kind, detail="429")

    farm.run(farm.works(find))
    wanted = expected(vector)
    waits_ms = [1000 * (after - before) for before, after in itertools.pairwise(starts)]
    assert farm.attempts(0) == list(range(1, wanted["streamsRetained"] + 1))
    assert len(waits_ms) == wanted["retries"]
    assert all(wait >= asked for wait, asked in zip(waits_ms, wanted["backoffMs"], strict=True))


def test_a_cancel_while_a_retry_waits_starts_nothing_more() -> None:
    plan = a_plan(trials=1, retry=ONLY_RATE_LIMITS)
    farm = Farm(plan.model_copy(update={"cells": plan.cells[:1]}))

    def find(_ticket: Ticket) -> Fault:
        farm.cancel()
        return Fault(kind=FaultKind.RATE_LIMIT, detail="429")

    farm.run(farm.works(find))
    assert expected("R07")["retries"] == 0
    assert farm.records.read(claim_key(farm.sweep, plan.cells[0].id, 2)) is None
