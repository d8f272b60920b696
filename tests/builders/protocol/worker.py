"""A worker's protocol, step by step as worker/cell/{claims,pulse,line,recording}.py take it, without the work.

Every call of a service is a yield, so that anything may happen before, during and after it.
"""

import itertools
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from farm.errors import TransientError
from farm.model import (
    Artifact,
    AttemptCleanup,
    CellEvent,
    Claim,
    Digest,
    EventKind,
    Evidence,
    Fault,
    Lease,
    Outcome,
    Plan,
    StopReason,
    SweepId,
    Ticket,
    canonical_json,
    result_of,
    settles,
)
from farm.model.keys import (
    attempt_cleanup_key,
    cancel_key,
    claim_key,
    close_key,
    outcome_key,
    result_key,
    settlement_key,
)
from tests.builders.protocol.services import Farm
from tests.builders.protocol.world import Act, Ask, Process, Running, Service, SkewedClock, Steps
from worker.cell.faults import fault_of
from worker.cell.ports import Timing
from worker.cell.stops import StoppedError

_TTL_S = 6.0
TIMING = Timing(lease_ttl_s=_TTL_S, beat_s=1.2)
_MARGIN = 1.03
"""A worker's clock may be this much slower than Redis's."""
_CHUNK_S = 1.5
_STREAM = b"what the session said"
_ARTIFACT = Artifact(role="events", media_type="text/plain", digest=Digest.of(_STREAM), size_bytes=len(_STREAM))

Answers = Generator[Ask | float, Any, Any]


@dataclass(slots=True)
class Right:
    """What the pulse knows, and what the world knows better."""

    lease: Lease
    clock: SkewedClock
    held_at: float
    order: StopReason | None = None
    is_lost: bool = False
    is_over: bool = False
    granted_s: float = 0.0
    """When Redis last said yes: not the worker's to know."""

    def stop_reason(self) -> StopReason | None:
        if self.clock.monotonic() - self.held_at >= _TTL_S:
            self.is_lost = True
        return StopReason.LOST_LEASE if self.is_lost else self.order


@dataclass(slots=True)
class Worker:
    """One slot of one host, through all its lives."""

    farm: Farm
    plan: Plan
    number: int
    ends: Callable[[], Evidence | Fault]
    checks_fence: bool = True
    accuse: Callable[[str, str], None] = lambda _where, _problem: None
    process: Process = field(default_factory=lambda: Process("worker"))
    lives: int = 0
    right: Right | None = None
    left: Lease | None = None
    """Of the cell whose folder a dead life left."""
    clock: SkewedClock = field(init=False)
    _holders: Any = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.clock = SkewedClock.drawn(self.farm.world, self.process)

    def offer(self, ticket: Ticket) -> None:
        """Take a ticket from the queue."""
        self.farm.busy.add(self.number)
        self._run(self._carry(ticket))

    def die(self) -> None:
        """Stop here."""
        self.process.is_dead = True
        self.farm.dead.add(self.number)
        self.left, self.right = (self.left if self.right is None else self.right.lease), None

    def come_back(self) -> None:
        """Live again, with an empty memory, and clear what the last life left."""
        self.lives += 1
        self.process = Process(f"worker {self.number}, life {self.lives}")
        self.clock = SkewedClock.drawn(self.farm.world, self.process)
        self.farm.dead.discard(self.number)
        self.farm.busy.discard(self.number)
        if self.left is not None:
            self._run(self._clear(self.left))
        self.farm.tickets_came()

    def shut_down(self) -> None:
        """Hand the running cell back."""
        if self.right is not None:
            self.right.order = self.right.order or StopReason.SHUTDOWN

    def _run(self, steps: Steps) -> None:
        Running(self.farm.world, self.process, steps).start()

    def _carry(self, ticket: Ticket) -> Steps:
        try:
            right = yield from self._claim(ticket)
            if right is not None:
                self.right = right
                self._run(self._pulse(right))
                yield from self._work(ticket, right)
        except TransientError:
            pass  # claim.failed
        self.right = None
        self.farm.busy.discard(self.number)
        self.farm.tickets_came()

    def _claim(self, ticket: Ticket) -> Answers:
        farm, sweep = self.farm, ticket.sweep
        holder = f"host-{self.number}/{self.lives}/{next(self._holders)}"
        ours = Lease(sweep=sweep, cell=ticket.cell, index=ticket.index, attempt=ticket.attempt, holder=holder)
        right = Right(ours, self.clock, 0.0)
        right.held_at = self.clock.monotonic()
        lease = yield self._redis(lambda: self._granted(right, farm.redis.leases.claim(ticket, holder, _TTL_S)))
        if not isinstance(lease, Lease):
            return None
        try:
            for key in (close_key(sweep), cancel_key(sweep), result_key(sweep, ticket.cell)):
                if (yield self._read(key)) is not None:
                    yield from self._release(lease)
                    return None
            claim = Claim(
                sweep=sweep,
                cell=ticket.cell,
                attempt=ticket.attempt,
                holder=holder,
                host=f"host-{self.number}",
                claimed_at=self.clock.now(),
            )
            if not (yield self._create(claim_key(sweep, ticket.cell, ticket.attempt), canonical_json(claim))):
                yield from self._release(lease)
                return None
        except TransientError:
            yield from self._release(lease)
            return None
        yield from self._tell(lease, EventKind.CLAIMED)
        right.order = yield from self._came_too_late(sweep)
        return right

    def _came_too_late(self, sweep: SweepId) -> Answers:
        try:
            is_open = (yield self._read(close_key(sweep))) is None
        except TransientError:
            is_open = False
        return None if is_open else StopReason.CANCEL

    def _granted(self, right: Right, answer: object) -> object:
        if isinstance(answer, Lease) or getattr(answer, "is_held", False):
            right.granted_s = self.farm.world.now_s
        return answer

    def _pulse(self, right: Right) -> Steps:
        while not right.is_over:
            yield TIMING.beat_s
            if not right.is_over:
                try:
                    yield from self._renew(right)
                except TransientError:
                    continue

    def _renew(self, right: Right) -> Answers:
        if right.stop_reason() is StopReason.LOST_LEASE:
            return
        asked_at = right.clock.monotonic()
        renewal = yield self._redis(lambda: self._granted(right, self.farm.redis.leases.renew(right.lease, _TTL_S)))
        if not renewal.is_held:
            right.is_lost = True
            return
        right.held_at = asked_at
        right.order = right.order or renewal.stop

    def _work(self, ticket: Ticket, right: Right) -> Answers:
        finding = self.ends()
        dice = self.farm.world.dice
        started_at, left_s = right.clock.now(), dice.random() * 4
        chunk_s = _CHUNK_S if dice.random() < 0.9 else left_s  # a session that is slow to die
        while left_s > 0 and self._may_go_on(right):
            yield min(left_s, chunk_s)
            left_s -= chunk_s
            is_late = self.farm.world.now_s > right.granted_s + _TTL_S * _MARGIN + _CHUNK_S
            if is_late and left_s > 0 and self._may_go_on(right):
                self.accuse(f"{ticket.cell} {ticket.attempt}", "it is worked on without a lease")
        reason = right.stop_reason()
        if reason is not None and self.checks_fence:
            finding = fault_of(StoppedError(reason))
        try:
            yield from self._patiently(right, partial(self._store, lambda: self.farm.store.blobs.put(_STREAM)))
            is_recorded = yield from self._record(ticket, right, finding, started_at)
        except StoppedError:
            is_recorded = False
        if is_recorded:
            yield from self._tell(right.lease, EventKind.FINISHED)
            yield from self._record_cleanup(right)
        right.is_over = True
        yield from self._release(right.lease)

    def _may_go_on(self, right: Right) -> bool:
        return right.stop_reason() is None or not self.checks_fence

    def _record(self, ticket: Ticket, right: Right, finding: Evidence | Fault, started_at: Any) -> Answers:
        if self.checks_fence:
            yield from self._patiently_renew(right)
        settlement = settlement_key(ticket.sweep)
        is_late = (yield from self._patiently(right, partial(self._read, settlement))) is not None
        outcome = self._outcome(ticket, right, finding, started_at).model_copy(update={"late": is_late})
        body, key = canonical_json(outcome), outcome_key(ticket.sweep, ticket.cell, ticket.attempt)
        ours = yield from self._patiently(right, partial(self._create_outcome, right, key, body))
        if not ours:
            return False
        if is_late or not settles(outcome, self.plan.retry):
            return True
        try:
            if (yield from self._patiently(right, partial(self._read, settlement))) is None:
                result = canonical_json(result_of(outcome, Digest.of(body)))
                yield from self._patiently(right, partial(self._create, result_key(ticket.sweep, ticket.cell), result))
        except StoppedError:
            pass  # result.unrecorded: the coordinator writes it
        return True

    def _create_outcome(self, right: Right, key: str, body: bytes) -> Ask:
        if self.farm.world.now_s > right.granted_s + _TTL_S * _MARGIN:
            self.accuse(key, "it is recorded by a worker that has no lease")
        records = self.farm.store.records
        return Ask(Service.STORE, lambda: records.create(key, body) or records.read(key) == body)

    def _outcome(self, ticket: Ticket, right: Right, finding: Evidence | Fault, started_at: Any) -> Outcome:
        return Outcome(
            sweep=ticket.sweep,
            plan=ticket.plan,
            cell=ticket.cell,
            attempt=ticket.attempt,
            host=f"host-{self.number}",
            holder=right.lease.holder,
            started_at=started_at,
            ended_at=right.clock.now(),
            evidence=finding if isinstance(finding, Evidence) else None,
            fault=finding if isinstance(finding, Fault) else None,
            artifacts=(_ARTIFACT,),
        )

    def _record_cleanup(self, right: Right) -> Answers:
        try:
            yield from self._patiently(right, partial(self._create, *_cleanup(right.lease)))
        except StoppedError:
            return

    def _clear(self, lease: Lease) -> Steps:
        try:
            yield self._create(*_cleanup(lease))
            self.left = None
        except TransientError:
            return

    def _patiently_renew(self, right: Right) -> Answers:
        wait_s = 0.2
        while True:
            try:
                yield from self._renew(right)
            except TransientError:
                yield wait_s
                wait_s = min(2 * wait_s, 5.0)
                if right.stop_reason() is not StopReason.LOST_LEASE:
                    continue
            if right.stop_reason() is StopReason.LOST_LEASE:
                raise StoppedError(StopReason.LOST_LEASE)
            return

    def _patiently(self, right: Right, ask: Callable[[], Ask]) -> Answers:
        wait_s = 0.2
        while True:
            if self.checks_fence and right.stop_reason() is StopReason.LOST_LEASE:
                raise StoppedError(StopReason.LOST_LEASE)
            try:
                return (yield ask())
            except TransientError:
                yield wait_s
                wait_s = min(2 * wait_s, 5.0)

    def _release(self, lease: Lease) -> Answers:
        try:
            yield self._redis(lambda: self.farm.redis.leases.release(lease))
        except TransientError:
            return

    def _tell(self, lease: Lease, kind: EventKind) -> Answers:
        event = CellEvent(kind=kind, index=lease.index, attempt=lease.attempt)
        try:
            yield self._redis(lambda: self.farm.redis.hints.append(event))
        except TransientError:
            return

    def _redis(self, act: Act) -> Ask:
        return Ask(Service.REDIS, act)

    def _store(self, act: Act) -> Ask:
        return Ask(Service.STORE, act)

    def _read(self, key: str) -> Ask:
        return Ask(Service.STORE, lambda: self.farm.store.records.read(key))

    def _create(self, key: str, body: bytes) -> Ask:
        return Ask(Service.STORE, lambda: self.farm.store.records.create(key, body))


def _cleanup(lease: Lease) -> tuple[str, bytes]:
    record = AttemptCleanup(cell=lease.cell, attempt=lease.attempt, done=True)
    return attempt_cleanup_key(lease.sweep, lease.cell, lease.attempt), canonical_json(record)
