"""A small sealed sweep: one task, two arms, one lost attempt, one unfinished cell, sealed by the finalizer."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemorySignals
from farm.audit import Audit, verify
from farm.finalizer.finalize import finalize, read_finalized
from farm.finalizer.ports import FinalizerPorts
from farm.gates.overlay import OverlayGate
from farm.gates.protocol import Gate
from farm.model import (
    Artifact,
    AttemptCleanup,
    Cell,
    Churn,
    Claim,
    Digest,
    Evidence,
    Fault,
    FaultKind,
    Measured,
    Opening,
    OracleFinding,
    Outcome,
    Overlay,
    Pin,
    Plan,
    ScopeFinding,
    SweepId,
    canonical_json,
    sweep_id,
)
from farm.model.keys import attempt_cleanup_key, claim_key, open_key, outcome_key, plan_key, result_key
from farm.model.settle import result_of, settles
from farm.ports import Store
from farm.reporting.render import render
from farm.testing.clock import FakeClock
from farm.version import __version__
from tests.builders.gates import BASH_CALLS, OFF, ON, a_plan, a_session

OPENED = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
TRIALS = 2
UNFINISHED = Cell(task="answer", arm=ON, trial=2)
LOST = Cell(task="answer", arm=OFF, trial=1)


def overlay_gate(name: str) -> Gate:
    assert name == "overlay"
    return OverlayGate()


def audited(store: Store, sweep: SweepId, gates: Callable[[str], Gate] = overlay_gate) -> Audit:
    """Verify the sweep as the command does."""
    return verify(store, sweep, gates, lambda: render(read_finalized(sweep, store.records).report))


def a_sealed_sweep(store: Store) -> SweepId:
    """Run the sweep's records into `store`, and seal it."""
    plan = _stored_plan(store)
    sweep = sweep_id(plan.name, plan.digest, 1)
    opening = Opening(sweep=sweep, plan=plan.digest, edition=1, opened_at=OPENED, submitted_by="ada")
    store.records.create(plan_key(sweep), canonical_json(plan))
    store.records.create(open_key(sweep), canonical_json(opening))
    for cell in plan.cells:
        if cell == LOST:
            lost = Fault(kind=FaultKind.LOST, detail="the lease expired")
            run_attempt(store, plan, cell, 1, fault=lost, evidence=None, artifacts=())
        if cell != UNFINISHED:
            run_attempt(store, plan, cell, 2 if cell == LOST else 1)
    finalize(sweep, _ports(store), overlay_gate, render)
    return sweep


def _stored_plan(store: Store) -> Plan:
    put = store.blobs.put
    gate = OverlayGate()
    options = gate.policy({"metric": BASH_CALLS.name, "gate": "reduction"}, ("answer",))
    plan = a_plan(trials=TRIALS, gates=(Pin(name=gate.name, version=gate.version, options=options),))
    task = plan.tasks[0]
    snapshot = task.snapshot.model_copy(update={"tree": put(b"a tar")})
    oracle = task.oracle.model_copy(update={"files": put(b"hidden files")})
    task = task.model_copy(update={"snapshot": snapshot, "oracle": oracle, "prompt": put(b"What is the version?")})
    overlay = Overlay(instructions=put(b"Answer with JSON."))
    off, on = plan.arms
    arms = (off, on.model_copy(update={"overlay": overlay, "assets": {"tools": put(b"a folder")}}))
    return Plan.model_validate(
        plan.model_dump() | {"tasks": (task,), "arms": arms, "farm_version": __version__, "metrics": (BASH_CALLS,)}
    )


def run_attempt(store: Store, plan: Plan, cell: Cell, attempt: int, **changes) -> None:
    """Record an attempt as a worker does: claim, blobs, outcome, result, clean-up.

    Without artifacts its worker died, and the next one found the events.
    """
    sweep = sweep_id(plan.name, plan.digest, 1)
    holder = f"host-a/1/{attempt}"
    claim = Claim(sweep=sweep, cell=cell.id, attempt=attempt, holder=holder, host="host-a", claimed_at=OPENED)
    events = f"events of {cell.id} {attempt}".encode()
    artifact = Artifact(
        role="session.work.events", media_type="application/jsonl", digest=Digest.of(events), size_bytes=len(events)
    )
    fields = {
        "sweep": sweep,
        "plan": plan.digest,
        "cell": cell.id,
        "attempt": attempt,
        "host": "host-a",
        "holder": holder,
        "started_at": OPENED + timedelta(seconds=attempt),
        "ended_at": OPENED + timedelta(seconds=attempt + 5),
        "evidence": _evidence(plan, cell),
        "artifacts": (artifact,),
    }
    outcome = Outcome(**(fields | changes))
    body = canonical_json(outcome)
    left = () if outcome.artifacts else (artifact,)
    cleanup = AttemptCleanup(cell=cell.id, attempt=attempt, done=True, artifacts=left)
    store.records.create(claim_key(sweep, cell.id, attempt), canonical_json(claim))
    store.blobs.put(events)
    store.records.create(outcome_key(sweep, cell.id, attempt), body)
    if settles(outcome, plan.retry) and not outcome.late:
        result = result_of(outcome, Digest.of(body))
        store.records.create(result_key(sweep, cell.id), canonical_json(result))
    store.records.create(attempt_cleanup_key(sweep, cell.id, attempt), canonical_json(cleanup))


def _evidence(plan: Plan, cell: Cell) -> Evidence:
    calls = 1 if cell.arm == ON else 5
    return Evidence(
        lock=plan.lock(cell),
        sandbox={"backend": "bubblewrap", "bwrap": "0.8.0"},
        workspace_before=Digest.of(b"before"),
        workspace_after=Digest.of(b"after"),
        sessions=(a_session(tool_calls={"Bash": calls}, cost_usd=Decimal("0.25")),),
        oracle=OracleFinding(correct=True),
        scope=ScopeFinding(),
        churn=Churn(files=1, added_lines=60, removed_lines=0, binary_files=0),
        metrics=(Measured(name=BASH_CALLS.name, value=calls),),
    )


def _ports(store: Store) -> FinalizerPorts:
    clock = FakeClock(OPENED + timedelta(minutes=1))
    signals = MemorySignals()
    return FinalizerPorts(
        records=store.records,
        leases=MemoryLeases(clock, signals),
        signals=signals,
        events=MemoryEvents(clock),
        clock=clock,
    )
