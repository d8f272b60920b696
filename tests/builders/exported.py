"""Settled sweeps read back from a store in memory, and their rows as documents."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemorySignals
from farm.adapters.memory.store import MemoryStore
from farm.finalizer.finalize import finalize, read_finalized
from farm.finalizer.ports import FinalizerPorts
from farm.gates.overlay import OverlayGate
from farm.gates.promotion import PromotionGate
from farm.gates.protocol import Gate
from farm.model import Artifact, Cell, Opening, Plan, canonical_json, sweep_id
from farm.model.keys import open_key, plan_key
from farm.reporting.report_input import ReportInput
from farm.reporting.rows import aggregate_lines, row_lines
from farm.testing.clock import FakeClock
from tests.builders.gates import a_digest
from tests.builders.sealed import OPENED, run_attempt


def gate_of(name: str) -> Gate:
    gates: dict[str, Gate] = {"overlay": OverlayGate(), "promotion": PromotionGate()}
    return gates[name]


def an_artifact(role: str, body: bytes) -> Artifact:
    return Artifact(role=role, media_type="text/plain", digest=a_digest(body.decode()), size_bytes=len(body))


def exported(plan: Plan, attempts: Mapping[Cell, Mapping[str, Any]], blobs: tuple[bytes, ...] = ()) -> list[Any]:
    """Settle the sweep with one attempt for each of these cells, and give its rows."""
    store = MemoryStore()
    report = settled(store, plan, attempts, blobs)
    return [json.loads(line) for line in row_lines(report, store.blobs.get)]


def aggregated(plan: Plan, attempts: Mapping[Cell, Mapping[str, Any]]) -> list[Any]:
    """Settle it as `exported` does, and give its aggregates."""
    return [json.loads(line) for line in aggregate_lines(settled(MemoryStore(), plan, attempts))]


def settled(
    store: MemoryStore, plan: Plan, attempts: Mapping[Cell, Mapping[str, Any]], blobs: tuple[bytes, ...] = ()
) -> ReportInput:
    """Settle the sweep in `store`, and read it back."""
    for body in blobs:
        store.blobs.put(body)
    sweep = sweep_id(plan.name, plan.digest, 1)
    opening = Opening(sweep=sweep, plan=plan.digest, edition=1, opened_at=OPENED, submitted_by="ada")
    store.records.create(plan_key(sweep), canonical_json(plan))
    store.records.create(open_key(sweep), canonical_json(opening))
    for cell, changes in attempts.items():
        run_attempt(store, plan, cell, 1, **changes)
    clock, signals = FakeClock(OPENED + timedelta(minutes=1)), MemorySignals()
    leases, events = MemoryLeases(clock, signals), MemoryEvents(clock)
    ports = FinalizerPorts(records=store.records, leases=leases, signals=signals, events=events, clock=clock)
    finalize(sweep, ports, gate_of, lambda _: {})
    return read_finalized(sweep, store.records).report
