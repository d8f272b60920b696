"""One history of the protocol: a few cells, a few workers, the real coordinator and settling, and trouble.

A history is a value: played again it goes the same way, and a smaller one that still breaks a law is easier to read.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cache

import structlog

from farm.adapters.memory import MemoryStore
from farm.coordinator.loop import Coordinator, EndKind
from farm.coordinator.ports import CoordinatorPorts, Rhythm
from farm.coordinator.submit import submit
from farm.errors import ConflictError, FarmError, TransientError
from farm.finalizer.cleaning import clean_up
from farm.finalizer.closing import close
from farm.finalizer.ports import FinalizerPorts, Grace
from farm.finalizer.settling import settle
from farm.finalizer.writing import Written
from farm.model import (
    BreakerPolicy,
    Cancel,
    CellEvent,
    CleanupRecord,
    EventKind,
    Evidence,
    Fault,
    FaultKind,
    Opening,
    Plan,
    Settlement,
    canonical_json,
    parse_record,
)
from farm.model.keys import cancel_key, cleanup_key, open_key
from farm.ports import Records
from farm.testing.clock import START, FakeClock
from tests.builders.auditor import Violation, audit
from tests.builders.protocol.services import EventsPort, Farm, Port
from tests.builders.protocol.worker import TIMING, Worker
from tests.builders.protocol.world import Died, Process, Service, SkewedClock, World
from tests.builders.sweeps import a_plan, evidence

RHYTHM = Rhythm(
    receive_s=1.5,
    leases_s=1.5,
    slots_s=4.0,
    orders_s=3.0,
    repair_s=4.0,
    lead_s=2.0,
    lead_ttl_s=6.0,
    progress_s=1e9,
    absence_s=2.4,
    overdue_s=3.0,
    overdue_most_s=12.0,
)
TROUBLE_ENDS_S = 40.0
PATIENCE_S = 400.0
"""What has not ended by then never will: all is well again since the trouble ended."""
_GRACE_S = 0.8


class Kind(Enum):
    """What may go wrong, beside the network."""

    WIPE = auto()
    REDIS_DOWN = auto()
    STORE_DOWN = auto()
    KILL_WORKER = auto()
    FREEZE_WORKER = auto()
    SHUT_DOWN_WORKER = auto()
    KILL_COORDINATOR = auto()
    FREEZE_COORDINATOR = auto()
    SECOND_COORDINATOR = auto()
    CANCEL = auto()
    FINALIZE = auto()


_DRAWN = (*Kind, Kind.WIPE, Kind.KILL_WORKER, Kind.KILL_WORKER, Kind.FREEZE_WORKER, Kind.KILL_COORDINATOR)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that happens at a moment, to `number` of its kind, for a while."""

    kind: Kind
    at_s: float
    number: int = 0
    lasts_s: float = 1.0


class Bug(Enum):
    """Mistakes that a farm could have, each in one of its parts."""

    NO_FENCE = auto()
    """A worker records without asking whether it still may."""
    CLEANS_FIRST = auto()
    """The finalizer cleans up before it settles."""
    BLIND_REAPER = auto()
    """The coordinator takes a silent attempt for lost, whatever stands in the store."""


@dataclass(frozen=True, slots=True)
class History:
    """All that determines what happens."""

    seed: int
    cells: int = 2
    workers: int = 2
    streak: int = 0
    loss: float = 0.0
    """The part of all calls that goes wrong."""
    deaths: int = 0
    """How often coordinator or finalizer stop in the middle of a call."""
    trouble: tuple[Trouble, ...] = ()

    @classmethod
    def drawn(cls, seed: int) -> "History":
        """Draw a history."""
        dice = random.Random(seed)  # noqa: S311 (dice, not secrets)
        trouble = tuple(
            Trouble(dice.choice(_DRAWN), dice.random() * 15, dice.randrange(3), dice.random() * 12)
            for _ in range(dice.randrange(5))
        )
        return cls(
            seed=seed,
            cells=dice.choice((1, 1, 1, 2, 2, 4)),
            workers=dice.choice((1, 1, 2, 3)),
            streak=dice.choice((0, 0, 0, 2)),
            loss=dice.choice((0.0, 0.02, 0.1)),
            deaths=dice.choice((0, 0, 1, 3)),
            trouble=trouble,
        )

    def smaller(self) -> Iterator["History"]:
        """Yield histories with less in them."""
        for number in range(len(self.trouble)):
            yield replace(self, trouble=self.trouble[:number] + self.trouble[number + 1 :])
        for name in ("cells", "workers"):
            if getattr(self, name) > 1:
                yield replace(self, **{name: getattr(self, name) - 1})
        for name in ("streak", "loss", "deaths"):
            if getattr(self, name):
                yield replace(self, **{name: 0})


def shrink(history: History, fails: Callable[[History], bool]) -> History:
    """Take away what is not needed for it to fail."""
    while True:
        for smaller in history.smaller():
            if fails(smaller):
                history = smaller
                break
        else:
            return history


@dataclass(frozen=True, slots=True)
class Played:
    """What a history came to."""

    violations: tuple[Violation, ...]
    """Every law that was broken."""
    bodies: Mapping[str, bytes]
    """Every record that stands at its end."""
    coordinators: int
    """How many lived."""

    @property
    def told(self) -> str:
        return "\n".join(f"{one.invariant} {one.where}: {one.problem}" for one in self.violations)


def play(history: History, bug: Bug | None = None) -> Played:
    """Play the history to its end."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    try:
        return _Play(history, bug).run()
    finally:
        structlog.configure(**before)


@dataclass(frozen=True, slots=True)
class _Submitted:
    plan: Plan
    opening: Opening
    bodies: dict[str, bytes]


@cache
def _submitted(cells: int, streak: int) -> _Submitted:
    whole = a_plan(trials=2, breaker=BreakerPolicy(streak=streak), grace_s=_GRACE_S)
    plan = whole.model_copy(update={"cells": whole.cells[:cells]})
    store = MemoryStore()
    key = open_key(submit(plan, 1, store.records, "model", FakeClock()))
    return _Submitted(plan, parse_record(Opening, store.records.bodies[key], key), store.records.bodies)


_EVIDENCE = evidence()
_FAULTS = (
    Fault(kind=FaultKind.HOST, detail="host"),
    Fault(kind=FaultKind.HOST, detail="host"),
    Fault(kind=FaultKind.TASK, detail="task"),
    Fault(kind=FaultKind.RATE_LIMIT, detail="rate", retry_after_s=3.0),
    Fault(kind=FaultKind.EVIDENCE, detail="evidence"),
)


class _Play:
    def __init__(self, history: History, bug: Bug | None) -> None:
        submitted = _submitted(history.cells, history.streak)
        self.history = history
        self.bug = bug
        self.plan = submitted.plan
        self.opening = submitted.opening
        self.world = World(history.seed, history.loss)
        store = MemoryStore()
        store.records.bodies.update(submitted.bodies)
        self.farm = Farm(self.world, submitted.opening.sweep, store, history.workers)
        self.farm.tickets_came = self._match
        self.deaths = [history.deaths]
        self.coordinators = list[Process]()
        self.lives = 0
        self.violations = list[Violation]()
        self.workers = [self._worker(number) for number in range(history.workers)]

    def _worker(self, number: int) -> Worker:
        return Worker(
            self.farm,
            self.plan,
            number,
            self._end,
            checks_fence=self.bug is not Bug.NO_FENCE,
            accuse=lambda where, problem: self.violations.append(Violation("I5", where, problem)),
        )

    def _end(self) -> Evidence | Fault:
        dice = self.world.dice
        return _EVIDENCE if dice.random() < 0.7 else dice.choice(_FAULTS)

    def run(self) -> Played:
        world = self.world
        for trouble in self.history.trouble:
            world.at(trouble.at_s, lambda trouble=trouble: self._happen(trouble))
        world.at(TROUBLE_ENDS_S, self._calm)
        self._lead()
        self._finalize()
        world.pass_for(3 * TIMING.lease_ttl_s)  # whoever is late
        self.violations += audit(self.farm.store.records, self.farm.store.blobs, self.farm.sweep).violations
        bodies = self.farm.store.records.bodies
        return Played(tuple(sorted(set(self.violations))), bodies, self.lives)

    def _is_too_late(self, what: str) -> bool:
        if self.world.now_s < PATIENCE_S:
            return False
        self.violations.append(Violation("I3", self.farm.sweep, f"{what} does not end"))
        return True

    def _calm(self) -> None:
        self.world.trouble = 0.0
        for worker in self.workers:
            if worker.process.is_dead:
                worker.come_back()

    def _match(self) -> None:
        """Give tickets to free workers, in any order; early acknowledgement: they are gone from the queue."""
        farm, dice = self.farm, self.world.dice
        while farm.redis.tickets:
            free = [one for one in self.workers if one.number not in farm.busy and one.number not in farm.dead]
            if not free:
                return
            worker = dice.choice(free)
            ticket = farm.redis.tickets.pop(dice.randrange(len(farm.redis.tickets)))
            farm.busy.add(worker.number)
            life = worker.process
            self.world.at(
                self.world.delay_s(),
                lambda worker=worker, life=life, ticket=ticket: None if life.is_dead else worker.offer(ticket),
            )

    def _lead(self) -> None:
        """Coordinate until the sweep is closed, through every death of a coordinator."""
        while not self._is_too_late("the sweep"):
            if self._coordinate(lambda: False):
                return
            self.world.pass_for(self.world.dice.random() * 5)

    def _coordinate(self, should_stop: Callable[[], bool]) -> bool:
        """Say whether the sweep is closed."""
        process = Process("coordinator", deaths=self.deaths)
        self.coordinators.append(process)
        self.lives += 1
        holder = f"coordinator {self.lives}"
        coordinator = Coordinator(self.farm.sweep, holder, self._coordinator_ports(process), RHYTHM)
        try:
            end = coordinator.run(lambda: should_stop() or self.world.now_s > PATIENCE_S, lambda _: None)
        except (Died, ConflictError):
            return False
        except FarmError as error:
            self.violations.append(Violation("I2", "coordinator", str(error)))
            return True
        finally:
            self.coordinators.remove(process)
        return end.kind is EndKind.CLOSED

    def _coordinator_ports(self, process: Process) -> CoordinatorPorts:
        farm = self.farm
        blind = BlindRecords(farm.store.records, self.plan)
        store: Records = blind if self.bug is Bug.BLIND_REAPER else farm.store.records

        def redis(name: str) -> Port:
            return Port(farm, process, Service.REDIS, lambda: getattr(farm.redis, name))

        return CoordinatorPorts(
            records=Port(farm, process, Service.STORE, lambda: store),
            blobs=Port(farm, process, Service.STORE, lambda: farm.store.blobs),
            leases=redis("leases"),
            dispatcher=Port(farm, process, Service.REDIS, lambda: farm),
            queues=redis("queues"),
            shares=redis("shares"),
            signals=redis("signals"),
            events=EventsPort(farm, process, blind.hear),
            hosts=Port(farm, process, Service.REDIS, lambda: farm),
            leadership=redis("leadership"),
            clock=SkewedClock.drawn(self.world, process),
        )

    def _finalize(self) -> None:
        """Finalize until it is done, through every death of a finalizer."""
        while self.farm.store.records.read(cleanup_key(self.farm.sweep)) is None:
            if self._is_too_late("the finalizer"):
                return
            self._finalize_once()
            self.world.pass_for(self.world.dice.random())

    def _finalize_once(self) -> None:
        process = Process("finalizer", deaths=self.deaths)
        farm = self.farm
        ports = FinalizerPorts(
            records=Port(farm, process, Service.STORE, lambda: farm.store.records),
            leases=Port(farm, process, Service.REDIS, lambda: farm.redis.leases),
            signals=Port(farm, process, Service.REDIS, lambda: farm.redis.signals),
            events=EventsPort(farm, process),
            clock=SkewedClock.drawn(self.world, process),
            readers=1,
        )
        try:
            closed = close(self.opening, self.plan, ports)
            grace = Grace(ports.clock, self.plan.grace_s)
            if self.bug is Bug.CLEANS_FIRST:
                ports.leases.forget(farm.sweep)
                ports.signals.withdraw_stop(farm.sweep)
            settlement = settle(self.plan, closed, ports, grace)
            if self.bug is Bug.CLEANS_FIRST:
                _say_that_all_is_clean(settlement, ports)
            clean_up(settlement, ports, grace)
        except (Died, TransientError):
            return
        except FarmError as error:
            self.violations.append(Violation("I7", "finalizer", str(error)))

    def _happen(self, trouble: Trouble) -> None:
        world, farm, lasts_s = self.world, self.farm, trouble.lasts_s
        worker = self.workers[trouble.number % len(self.workers)]
        until_s = world.now_s + lasts_s
        match trouble.kind:
            case Kind.WIPE:
                farm.wipe()
            case Kind.REDIS_DOWN | Kind.STORE_DOWN:
                world.down_until_s[Service.REDIS if trouble.kind is Kind.REDIS_DOWN else Service.STORE] = until_s
            case Kind.KILL_WORKER if not worker.process.is_dead:
                worker.die()
                world.at(lasts_s, lambda: worker.come_back() if worker.process.is_dead else None)
            case Kind.FREEZE_WORKER:
                worker.process.frozen_until_s = until_s
            case Kind.SHUT_DOWN_WORKER:
                worker.shut_down()
            case Kind.CANCEL:
                cancel = Cancel(sweep=farm.sweep, reason="enough", cancelled_at=START)
                farm.store.records.create(cancel_key(farm.sweep), canonical_json(cancel))
            case Kind.FINALIZE:
                self._finalize_once()
            case _:
                self._happen_to_coordinators(trouble, until_s)

    def _happen_to_coordinators(self, trouble: Trouble, until_s: float) -> None:
        first = self.coordinators[0] if self.coordinators else None
        match trouble.kind:
            case Kind.KILL_COORDINATOR if first is not None:
                first.is_dead = True
            case Kind.FREEZE_COORDINATOR if first is not None:
                first.frozen_until_s = until_s
            case Kind.SECOND_COORDINATOR:
                turns = iter(range(2 + int(trouble.lasts_s)))
                self._coordinate(lambda: next(turns, None) is None)
            case _:
                pass


def _say_that_all_is_clean(settlement: Written[Settlement], ports: FinalizerPorts) -> None:
    sweep = settlement.value.sweep
    record = CleanupRecord(sweep=sweep, settlement=settlement.digest, complete=True, cleaned_at=ports.clock.now())
    ports.records.create(cleanup_key(sweep), canonical_json(record))


@dataclass(slots=True)
class BlindRecords:
    """The store as a coordinator sees it that believes hints alone: what it was not told of is lost."""

    real: Records
    plan: Plan
    told: set[str] = field(default_factory=set)
    own: dict[str, bytes] = field(default_factory=dict)

    def hear(self, event: CellEvent) -> None:
        if event.kind is EventKind.FINISHED:
            self.told.add(self.plan.cells[event.index].id)

    def create(self, key: str, body: bytes) -> bool:
        is_new = self.real.create(key, body)
        if key.endswith("/outcome.json"):
            self.own[key] = body
        return is_new

    def read(self, key: str) -> bytes | None:
        if key in self.own:
            return self.own[key]
        is_of_a_cell = "/results/" in key or key.endswith("/outcome.json")
        if is_of_a_cell and not any(f"/{cell}/" in key or f"/{cell}.json" in key for cell in self.told):
            return None
        return self.real.read(key)

    def keys(self, prefix: str) -> Iterator[str]:
        return self.real.keys(prefix)
