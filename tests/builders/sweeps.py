"""Plans, outcomes and a whole farm in memory, on a clock that moves when told."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from farm.adapters.memory import (
    MemoryDispatcher,
    MemoryDrainOrders,
    MemoryEvents,
    MemoryHosts,
    MemoryLeadership,
    MemoryLeases,
    MemoryLiveNotes,
    MemoryQueues,
    MemoryShares,
    MemorySignals,
    MemoryStore,
)
from farm.bootstrap import Exchange
from farm.coordinator.loop import Coordinator, CoordinatorEnd
from farm.coordinator.mandate import Mandate
from farm.coordinator.ports import CoordinatorPorts, Rhythm
from farm.coordinator.progress import Progress
from farm.coordinator.submit import ShardPlace, submit, submit_shard
from farm.finalizer.ports import FinalizerPorts
from farm.model import (
    Arm,
    ArmRole,
    Artifact,
    AttemptCleanup,
    BreakerPolicy,
    Cancel,
    Cell,
    CellEvent,
    Claim,
    Digest,
    DoorReport,
    EventKind,
    Evidence,
    ExitKind,
    Fault,
    FaultKind,
    Host,
    Lease,
    OracleFinding,
    OracleSpec,
    Outcome,
    Pin,
    Plan,
    ProcessExit,
    RetryPolicy,
    ScopeFinding,
    SessionReport,
    Shard,
    Snapshot,
    SweepBudget,
    SweepId,
    Task,
    Ticket,
    canonical_json,
    result_of,
    settles,
)
from farm.model.keys import attempt_cleanup_key, cancel_key, claim_key, outcome_key, result_key
from farm.testing.clock import FakeClock

START = datetime(2026, 1, 1, tzinfo=UTC)
D = Digest("0" * 64)
TTL_S = 30.0


def a_plan(trials: int = 3, **changes: object) -> Plan:
    """One task, an incumbent and a candidate: 2 x `trials` cells."""
    task = Task(
        id="task",
        snapshot=Snapshot(commit="0" * 40, tree=D, size_bytes=1),
        prompt=D,
        oracle=OracleSpec(kind="command"),
    )
    pin = Pin(name="scripted", version="1")
    arms = (
        Arm(name="old", role=ArmRole.INCUMBENT, agent=pin, program=pin),
        Arm(name="new", role=ArmRole.CANDIDATE, agent=pin, program=pin),
    )
    cells = tuple(Cell(task="task", arm=arm.name, trial=trial) for trial in range(1, trials + 1) for arm in arms)
    plan = Plan(name="demo", farm_version="1", tasks=(task,), arms=arms, trials=trials, cells=cells)
    return plan.model_copy(update={"breaker": BreakerPolicy(streak=0), **changes})


def evidence(*, correct: bool = True, cost: str | None = "0.25") -> Evidence:
    """What a cell that ran to its end proved."""
    exit_ = ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.5)
    session = SessionReport(name="work", exit=exit_, reason="success", cost_usd=None if cost is None else Decimal(cost))
    return Evidence(
        lock=D,
        sandbox={},
        workspace_before=D,
        workspace_after=D,
        sessions=(session,),
        oracle=OracleFinding(correct=correct),
        scope=ScopeFinding(),
    )


def fault(kind: FaultKind, retry_after_s: float | None = None) -> Fault:
    return Fault(kind=kind, detail=f"a {kind} fault", retry_after_s=retry_after_s)


Finding = Evidence | Fault


@dataclass
class Worker:
    """Claims tickets, and records what it is told to find; every step is the test's."""

    farm: "Farm"
    name: str = "host/1"
    held: dict[int, Lease] = field(default_factory=dict)
    doors: tuple[DoorReport, ...] | None = None
    """Of each attempt that ends in a fault."""
    artifacts: tuple[Artifact, ...] = ()
    """Of each attempt."""

    def claim(self, ticket: Ticket) -> bool:
        """Take the lease and write claim.json, as a worker does."""
        farm = self.farm
        lease = farm.leases.claim(ticket, f"{self.name}/{next(farm.serial)}", TTL_S)
        if not isinstance(lease, Lease):
            return False
        record = Claim(
            sweep=ticket.sweep,
            cell=ticket.cell,
            attempt=ticket.attempt,
            holder=lease.holder,
            host=self.name,
            claimed_at=farm.clock.now(),
        )
        key = claim_key(ticket.sweep, ticket.cell, ticket.attempt)
        settled = farm.records.read(result_key(ticket.sweep, ticket.cell)) is not None
        if settled or not farm.records.create(key, canonical_json(record)):
            farm.leases.release(lease)
            return False
        self.held[ticket.index] = lease
        farm.hint(EventKind.CLAIMED, ticket.index, ticket.attempt)
        return True

    def finish(self, index: int, finding: Finding, *, with_result: bool = True, with_hint: bool = True) -> None:
        """Record the outcome, its result if it settles the cell, the clean-up; release; tell."""
        farm, lease = self.farm, self.held.pop(index)
        self.record(lease, finding, with_result=with_result)
        cleanup = AttemptCleanup(cell=lease.cell, attempt=lease.attempt, done=True)
        farm.records.create(attempt_cleanup_key(lease.sweep, lease.cell, lease.attempt), canonical_json(cleanup))
        farm.leases.release(lease)
        if with_hint:
            farm.hint(EventKind.FINISHED, index, lease.attempt)

    def record(self, lease: Lease, finding: Finding, *, with_result: bool = True) -> None:
        farm = self.farm
        outcome = Outcome(
            sweep=lease.sweep,
            plan=farm.plan.digest,
            cell=lease.cell,
            attempt=lease.attempt,
            host=self.name,
            holder=lease.holder,
            started_at=START,
            ended_at=farm.clock.now(),
            evidence=finding if isinstance(finding, Evidence) else None,
            fault=finding if isinstance(finding, Fault) else None,
            doors=self.doors if isinstance(finding, Fault) else None,
            artifacts=self.artifacts,
        )
        body = canonical_json(outcome)
        farm.records.create(outcome_key(lease.sweep, lease.cell, lease.attempt), body)
        if with_result and settles(outcome, farm.plan.retry):
            key = result_key(lease.sweep, lease.cell)
            farm.records.create(key, canonical_json(result_of(outcome, Digest.of(body))))

    def renew(self) -> None:
        for lease in self.held.values():
            self.farm.leases.renew(lease, TTL_S)


class Farm:
    """Every port in memory, one submitted sweep, and coordinators on demand."""

    def __init__(
        self, plan: Plan, slots: int = 4, clock: FakeClock | None = None, store: MemoryStore | None = None
    ) -> None:
        self.plan = plan
        self.clock = clock or FakeClock()
        store = store or MemoryStore()
        self.records, self.blobs = store.records, store.blobs
        self.serial = iter(range(10**9))
        self.slots = slots
        self.wipe()
        self.shard: Shard | None = None
        self.budget: SweepBudget | None = None
        self.sweep: SweepId = submit(plan, None, self.records, "tester", self.clock)
        self.seen: list[Progress] = []

    @classmethod
    def of_shard(cls, plan: Plan, shard: Shard, store: MemoryStore) -> "Farm":
        """Make a farm of its own for one shard, over the store that the others share."""
        farm = cls(plan)
        farm.records, farm.shard = store.records, shard
        farm.sweep = submit_shard(plan, ShardPlace(shard, 1), store.records, "tester", farm.clock)
        return farm

    def wipe(self) -> None:
        """Lose all that Redis holds."""
        self.signals = MemorySignals()
        self.leases = MemoryLeases(self.clock, self.signals)
        self.dispatcher = MemoryDispatcher()
        self.events = MemoryEvents(self.clock)
        self.hosts = MemoryHosts(self.clock)
        self.queues = MemoryQueues(self.clock)
        self.shares = MemoryShares(self.clock)
        self.leadership = MemoryLeadership(self.clock)
        self.beat()

    def beat(self, busy: int = 0) -> None:
        host = Host(id="host", slots=self.slots, busy=busy, version="1", sandbox="bubblewrap", seen_at=self.clock.now())
        if self.slots:
            self.hosts.beat(host, 10**6)

    @property
    def ports(self) -> CoordinatorPorts:
        return CoordinatorPorts(
            records=self.records,
            blobs=self.blobs,
            leases=self.leases,
            dispatcher=self.dispatcher,
            queues=self.queues,
            shares=self.shares,
            signals=self.signals,
            events=self.events,
            hosts=self.hosts,
            leadership=self.leadership,
            clock=self.clock,
        )

    @property
    def finalizer_ports(self) -> FinalizerPorts:
        return FinalizerPorts(
            records=self.records, leases=self.leases, signals=self.signals, events=self.events, clock=self.clock
        )

    def as_the_command_line_has_it(self) -> tuple[MemoryStore, Exchange]:
        """Give the same store, and the same ports as an exchange."""
        store = MemoryStore()
        store.records = self.records
        exchange = Exchange(
            url="memory://",
            shown_url="memory://",
            leases=self.leases,
            signals=self.signals,
            hosts=self.hosts,
            events=self.events,
            leadership=self.leadership,
            live=MemoryLiveNotes(),
            dispatcher=self.dispatcher,
            queues=self.queues,
            shares=self.shares,
            orders=MemoryDrainOrders(),
        )
        return store, exchange

    def hint(self, kind: EventKind, index: int, attempt: int) -> None:
        self.events.publish(self.sweep, CellEvent(kind=kind, index=index, attempt=attempt))

    def coordinator(self, holder: str = "first", rhythm: Rhythm | None = None) -> Coordinator:
        return Coordinator(self.sweep, holder, self.ports, rhythm, Mandate(self.shard, self.budget))

    def run(self, step: Callable[[int], bool | None], coordinator: Coordinator | None = None) -> CoordinatorEnd:
        """Run a coordinator; `step(turn)` plays the rest of the world at each turn, and stops it by True."""
        turns = iter(range(20_000))

        def should_stop() -> bool:
            turn = next(turns, None)
            assert turn is not None, f"the sweep does not end: {self.seen[-1:]}"
            return bool(step(turn))

        return (coordinator or self.coordinator()).run(should_stop, self.seen.append)

    def works(
        self,
        find: Callable[[Ticket], Finding | None],
        doors: tuple[DoorReport, ...] | None = None,
        artifacts: tuple[Artifact, ...] = (),
    ) -> Callable[[int], bool | None]:
        """Make a world in which every ticket is run at once; None: the worker dies on it."""
        worker = Worker(self, doors=doors, artifacts=artifacts)

        def step(_turn: int) -> None:
            for ticket in self.dispatcher.take():
                finding = find(ticket) if worker.claim(ticket) else None
                if finding is not None:
                    worker.finish(ticket.index, finding)
                else:
                    worker.held.pop(ticket.index, None)

        return step

    def cancel(self, reason: str = "enough") -> None:
        record = Cancel(sweep=self.sweep, reason=reason, cancelled_at=self.clock.now())
        self.records.create(cancel_key(self.sweep), canonical_json(record))

    def results(self) -> list[str]:
        """Name the cells that have a result, in plan order."""
        have = (cell.id for cell in self.plan.cells)
        return [cell for cell in have if self.records.read(result_key(self.sweep, cell)) is not None]

    def attempts(self, index: int) -> list[int]:
        """Number the claimed attempts of a cell."""
        cell = self.plan.cells[index].id
        return [n for n in range(1, 10) if self.records.read(claim_key(self.sweep, cell, n)) is not None]


def quick_retry(**changes: object) -> RetryPolicy:
    return RetryPolicy().model_copy(update={"base_delay_s": 0.1, **changes})


def indices(tickets: Iterable[Ticket]) -> list[int]:
    return [ticket.index for ticket in tickets]
