"""The model's worker asks for the same things in the same order as the real one: else a check of it says nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from farm.adapters.memory import MemoryEvents, MemoryLeases, MemoryLiveNotes, MemorySignals, MemoryStore
from farm.model import (
    Close,
    CloseReason,
    Digest,
    EventKind,
    Evidence,
    Fault,
    FaultKind,
    RetryPolicy,
    Settlement,
    SweepId,
    Ticket,
    canonical_json,
)
from farm.model.keys import cancel_key, claim_key, close_key, result_key, settlement_key
from farm.redaction import Redactor
from farm.testing.clock import FakeClock
from tests.builders.protocol.services import Farm
from tests.builders.protocol.worker import TIMING, Worker
from tests.builders.protocol.world import World
from tests.builders.sweeps import START, a_plan, evidence, fault
from worker.cell.attempt import Attempt, Finding
from worker.cell.claims import Claims, release, tell
from worker.cell.faults import fault_of
from worker.cell.hours import Room
from worker.cell.narration import Narration
from worker.cell.ports import Claimed, Exchange, Place, Truth
from worker.cell.pulse import Pulse
from worker.cell.recording import LineEnd, Recorder
from worker.cell.stops import StoppedError
from worker.health.fitness import Fitness

PLAN = a_plan(trials=1)
SWEEP = SweepId("s-000000000000.1")
CELL = PLAN.cells[0].id
TICKET = Ticket(sweep=SWEEP, plan=PLAN.digest, cell=CELL, index=0, attempt=1)
STREAM = b"what the session said"

Log = list[str]
Scene = Callable[[MemoryStore, MemoryLeases], None]


@dataclass
class Logged:
    """A port that writes down each call and the last word of the key that it is about."""

    real: Any
    log: Log
    on_create: Callable[[str], None] = field(default=lambda _: None)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            about = arguments[0].rsplit("/", 2)[-2:] if isinstance(arguments[0], str) else ()
            self.log.append(" ".join((name, *about)))
            if name == "create":
                self.on_create(arguments[0])
            return getattr(self.real, name)(*arguments)

        return call


class Hints(list[Any]):
    """A queue of hints that writes down what is put in."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log = log

    def append(self, event: Any) -> None:
        self.log.append(f"hint {event.kind}")


def put_close(store: MemoryStore) -> None:
    close = Close(sweep=SWEEP, reason=CloseReason.UNFINISHED, closed_at=START)
    store.records.create(close_key(SWEEP), canonical_json(close))


def really(scene: Scene, found: Evidence | Fault, on_create: Callable[[MemoryStore, str], None]) -> Log:
    """Take the ticket through the worker's own claim and record, as its line puts them together."""
    log, store, clock = Log(), MemoryStore(), FakeClock()
    signals = MemorySignals()
    book = MemoryLeases(clock, signals)
    scene(store, book)
    leases: Any = Logged(book, log)
    events = MemoryEvents(clock)
    events.publish = lambda _sweep, event: log.append(f"hint {event.kind}")  # type: ignore[method-assign]
    exchange = Exchange(leases, signals, events, MemoryLiveNotes())
    records: Any = Logged(store.records, log, lambda key: on_create(store, key))
    truth = Truth(Logged(store.blobs, log), records)  # type: ignore[arg-type]
    ports: Any = SimpleNamespace(exchange=exchange, truth=truth, clock=clock, fitness=Fitness())
    place = Place("host-0", 0, Path("/"), "host-0/0")
    holders = (f"host-0/0/{number}" for number in count())
    claims = Claims(ports, place, TIMING, holders, lambda _: frozenset(), lambda _: Room(None, 0.0))
    claimed = claims.take(TICKET)
    if not isinstance(claimed, Claimed):
        return log
    pulse = Pulse(exchange, TIMING, clock, claimed.lease).since(claimed)
    narration = Narration(exchange, claimed.lease, "host-0", clock, Redactor())
    attempt = Attempt(claimed, clock, clock.now(), narration)
    attempt.keeper.keep("events", "text/plain", STREAM)
    reason = pulse.stop_reason()
    what = found if reason is None else fault_of(StoppedError(reason))
    finding = Finding(
        RetryPolicy(),
        evidence=what if isinstance(what, Evidence) else None,
        fault=what if isinstance(what, Fault) else None,
    )
    recorder = Recorder(truth, clock, place, Redactor())
    end = recorder.record(attempt, finding, pulse)
    if end is not LineEnd.LOST:
        tell(exchange, claimed.lease, EventKind.FINISHED)
        recorder.record_cleanup(claimed, None, pulse)
    release(exchange, claimed.lease)
    return log


def modelled(scene: Scene, found: Evidence | Fault, on_create: Callable[[MemoryStore, str], None]) -> Log:
    """Take the ticket through the model."""
    log, world, store = Log(), World(1, 0.0), MemoryStore()
    world.dice.random = lambda: 0.0  # type: ignore[method-assign] (no work, so no heartbeat: the rest is the same)
    farm = Farm(world, SWEEP, store, 1)
    scene(store, farm.redis.leases)
    farm.redis.leases = Logged(farm.redis.leases, log)  # type: ignore[assignment]
    farm.redis.hints = Hints(log)
    store.records, store.blobs = (  # type: ignore[assignment]
        Logged(store.records, log, lambda key: on_create(bare, key)),
        Logged(store.blobs, log),
    )
    bare = MemoryStore()
    bare.records = store.records.real  # type: ignore[attr-defined]
    Worker(farm, PLAN, 0, lambda: found).offer(TICKET)
    world.pass_for(1.0)
    return log


def is_open(_store: MemoryStore, leases: MemoryLeases) -> None:
    leases.open_sweep(SWEEP)


def is_unknown(_store: MemoryStore, _leases: MemoryLeases) -> None:
    pass


def has(key: str) -> Scene:
    """Let something be recorded before."""

    def scene(store: MemoryStore, leases: MemoryLeases) -> None:
        leases.open_sweep(SWEEP)
        settlement = Settlement(
            sweep=SWEEP, plan=PLAN.digest, close=Digest("0" * 64), cells=(), workers_settled=False, settled_at=START
        )
        store.records.create(key, canonical_json(settlement))

    return scene


def nothing(_store: MemoryStore, _key: str) -> None:
    pass


def close_at_claim(store: MemoryStore, key: str) -> None:
    if key.endswith("claim.json"):
        put_close(store)


SCENES: dict[str, Scene] = {
    "open": is_open,
    "unknown": is_unknown,
    "closed": has(close_key(SWEEP)),
    "cancelled": has(cancel_key(SWEEP)),
    "has a result": has(result_key(SWEEP, CELL)),
    "is claimed": has(claim_key(SWEEP, CELL, 1)),
    "is settled": has(settlement_key(SWEEP)),
}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(
    "found", [evidence(), fault(FaultKind.HOST), fault(FaultKind.TASK)], ids=["ok", "host", "task"]
)
@pytest.mark.parametrize("on_create", [nothing, close_at_claim])
def test_both_ask_for_the_same_in_the_same_order(
    scene: str, found: Evidence | Fault, on_create: Callable[[MemoryStore, str], None]
) -> None:
    log = modelled(SCENES[scene], found, on_create)
    assert log == really(SCENES[scene], found, on_create)
    assert log[0] == "claim"
