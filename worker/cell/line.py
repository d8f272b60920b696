"""The straight line of one attempt.

Claim, stage, setup, sessions, collect, verify, oracle, scope before and after it, upload, record, clean up, release.
What must stay true: nothing is recorded without the right to (the lease, and claim.json); blobs stand before records
name them; whatever happens in between, the cell's folder is removed once its processes are dead. What a guest does is
evidence; an error that we can answer becomes a fault; anything else leaves this file as it came, as a bug, and
`record_bug` writes it down.
"""

import itertools
from contextlib import suppress

import structlog

from farm.errors import FarmError
from farm.model import (
    EventKind,
    Evidence,
    FaultKind,
    Plan,
    Refusal,
    RetryPolicy,
    Ticket,
    lacking,
    sandbox_need,
)
from sandbox.errors import SandboxUnhealthyError
from worker.cell.attempt import Attempt, Finding
from worker.cell.boundary import Boundary, held_to_work
from worker.cell.cast import Cast, Casting
from worker.cell.checking import Checks
from worker.cell.claims import Claims, release, tell
from worker.cell.collecting import collect
from worker.cell.doors import doors
from worker.cell.faults import ANSWERABLE, fault_of, fault_of_bug, recordable
from worker.cell.hours import Hourglass, Hours, Room
from worker.cell.left import BrokenBound, look_at
from worker.cell.metrics import measure
from worker.cell.narration import Narration
from worker.cell.ports import Claimed, LinePorts, Place, Timing
from worker.cell.pulse import Pulse
from worker.cell.recording import LineEnd, Recorder
from worker.cell.scope import scope_finding
from worker.cell.sessions import CellSessions
from worker.cell.staging import Staged, Staging
from worker.cell.standing import Still
from worker.cell.stops import StoppedError
from worker.staging.ground import CellFolder, Ground
from worker.trees.copying import Ownership
from worker.trees.errors import TreeError

_log = structlog.get_logger()


class CellLine:
    """Runs attempts, one at a time, in the thread that calls it; that thread must outlive every run."""

    def __init__(self, ports: LinePorts, place: Place, timing: Timing | None = None) -> None:
        self._ports = ports
        self._place = place
        self._timing = timing or Timing()
        self._facts = dict(ports.sandbox.facts())
        self._ground = Ground(place.root)
        self._staging = Staging(ports, place, self._ground)
        self._casting = Casting(ports.truth, ports.plugins)
        self._folder: CellFolder | None = None
        self._undead: str | None = None
        self._recorder = Recorder(ports.truth, ports.clock, place, ports.redactor)
        holders = (f"{place.holder}/{number}" for number in itertools.count(1))
        self._hours = Hours(ports.exchange.leases, place.hours)
        self._claims = Claims(ports, place, self._timing, holders, self._lacking, self._room)

    def claim(self, ticket: Ticket) -> Claimed | Refusal:
        """Take the right to the attempt, or say why not. What raises has taken nothing."""
        return self._claims.take(ticket)

    def work(self, claimed: Claimed) -> LineEnd:
        """Work off a claimed attempt to its record. Raises only for bugs, with the lease still held."""
        with structlog.contextvars.bound_contextvars(
            sweep=claimed.ticket.sweep, cell=claimed.ticket.cell, attempt=claimed.ticket.attempt, host=self._place.host
        ):
            _log.info("attempt.claimed", holder=claimed.lease.holder)
            end = self._work(claimed)
            _log.info("attempt.ended", end=end)
            return end

    def record_bug(self, claimed: Claimed, error: Exception) -> LineEnd:
        """Record that `work` broke on a bug of ours."""
        finding = Finding(RetryPolicy(), fault=fault_of_bug(error))
        attempt = self._attempt(claimed)
        attempt.doors.append(None)  # what its sessions spent went with the notebook that broke
        with self._beating(attempt) as pulse:
            end = self._record(attempt, finding, pulse)
            self._tell_cleanup(claimed, end, self._remove(), pulse)
        release(self._ports.exchange, claimed.lease)  # no heartbeat is on its way that would make it again
        return end

    def close(self) -> None:
        """Give the host's folders back and end the sandbox's own processes, at the process's end."""
        self._ports.doors.gateway.close()
        self._ports.doors.translator.close()
        self._ports.sandbox.close()
        if self._undead is None:
            self._ground.close()

    def _work(self, claimed: Claimed) -> LineEnd:
        attempt = self._attempt(claimed)
        with self._beating(attempt).since(claimed) as pulse:
            self._folder = folder = self._ground.cell(Ownership(*self._ports.sandbox.owner(self._place.slot)))
            try:
                finding = self._find(attempt, folder, pulse)
                end = self._record(attempt, finding, pulse)
            finally:
                problem = self._remove()
                if self._undead is None:
                    self._staging.release()  # last: guests may have seen it, and the workspace may lie over it
            self._tell_cleanup(claimed, end, problem, pulse)
        with suppress(FarmError):
            attempt.narration.close()
        release(self._ports.exchange, claimed.lease)  # no heartbeat is on its way that would make it again
        return end

    def _attempt(self, claimed: Claimed) -> Attempt:
        ports = self._ports
        narration = Narration(ports.exchange, claimed.lease, self._place.host, ports.clock, ports.redactor)
        return Attempt(claimed, ports.clock, ports.clock.now(), narration)

    def _beating(self, attempt: Attempt) -> Pulse:
        ports, lease = self._ports, attempt.claimed.lease
        pulse = Pulse(ports.exchange, self._timing, ports.clock, lease, attempt.narration.tell)
        pulse.stop_at(attempt.claimed.until_s)
        return pulse

    def _find(self, attempt: Attempt, folder: CellFolder, pulse: Pulse) -> Finding:
        plan: Plan | None = None
        try:
            plan = self._casting.plan(attempt.claimed.ticket)
            evidence = self._prove(attempt, self._casting.of(attempt.claimed.ticket), folder, pulse)
            self._ports.fitness.ends.tell(None)
            return Finding(plan.retry, evidence=evidence)
        except ANSWERABLE as error:
            if isinstance(error, SandboxUnhealthyError):
                self._lose_fitness(recordable(str(error)))
            # What breaks while the cell is being stopped broke because of it.
            reason = pulse.stop_reason()
            fault = fault_of(error if reason is None else StoppedError(reason))
            _log.warning("attempt.faulted", kind=fault.kind, detail=fault.detail)
            if fault.kind is FaultKind.HOST:
                self._ports.fitness.ends.tell(fault.detail)
            return Finding(plan.retry if plan is not None else RetryPolicy(), fault=fault)

    def _lose_fitness(self, problem: str) -> None:
        """Take nothing more in the whole worker, and leave the folder to the next one: somebody may live in it."""
        _log.error("worker.unfit", problem=problem)
        self._undead = problem
        self._ports.fitness.lose(problem)

    def _lacking(self, ticket: Ticket) -> frozenset[str]:
        try:
            needed = self._casting.needs(ticket)
        except FarmError:
            return frozenset()  # what is wrong with the ticket's plan is for its attempt to say
        return lacking(needed, frozenset((sandbox_need(self._place.sandbox), *self._ports.doors.offers())))

    def _room(self, ticket: Ticket) -> Room:
        try:
            plan, cell = self._casting.plan(ticket), self._casting.cell(ticket)
        except FarmError:
            return Room(None, 0.0)  # as above
        return self._hours.room(plan, cell)

    def _prove(self, attempt: Attempt, cast: Cast, folder: CellFolder, pulse: Pulse) -> Evidence:
        staged = self._staging.stage(cast, attempt, folder, pulse)
        boxes, before = staged.boxes, staged.beginning.tree
        checks = Checks(cast, attempt, boxes, self._ground, self._ports.truth, pulse)
        with attempt.stage("sessions"):
            cell_sessions = self._sessions(cast, attempt, staged, checks, pulse)
            sessions = cast.program.perform(cast.prompt, cell_sessions)
        with attempt.stage("collect"):
            left = look_at(folder.workspace, pulse.check)
            staged.ensure_untouched(left)
            churn = collect(attempt, staged.beginning, folder, left, cell_sessions.work_beside or ())
        with attempt.stage("verify"):
            verify = checks.verify()
            pulse.check()
        with attempt.stage("oracle"):
            oracle = checks.judge(sessions, left)
            oracle = held_to_work(oracle, before, left, cell_sessions.work_beside)
            pulse.check()
        return Evidence(
            lock=cast.lock,
            sandbox=self._facts | dict(staged.facts),
            workspace_before=before.digest,
            workspace_after=None if isinstance(left, BrokenBound) else left.digest,
            workspace_limit=left.limit if isinstance(left, BrokenBound) else None,
            sessions=sessions,
            verify=verify,
            oracle=oracle,
            scope=scope_finding(cast.task, before, left, folder.workspace, pulse.check),
            churn=churn,
            metrics=measure(cast.plan.metrics, sessions, oracle),
            builds=dict(staged.builds),
            governed=cell_sessions.governed,
        )

    def _sessions(self, cast: Cast, attempt: Attempt, staged: Staged, checks: Checks, pulse: Pulse) -> CellSessions:
        folder = staged.boxes.folder
        return CellSessions(
            cast=cast,
            attempt=attempt,
            boxes=staged.boxes,
            doors=doors(cast, attempt, folder, self._ports.doors, pulse.must_stop),
            pulse=pulse,
            hourglass=Hourglass(self._hours, cast.plan, cast.cell, self._ports.clock, pulse),
            boundary=Boundary(folder.workspace, pulse.check, staged.beginning.tree),
            still=Still(attempt, staged.boxes, checks),
            assets=staged.assets,
        )

    def _record(self, attempt: Attempt, finding: Finding, pulse: Pulse) -> LineEnd:
        """Record, and hint at it before the clean-up: one that hangs must not hold the sweep."""
        end = self._recorder.record(attempt, finding, pulse)
        if end is not LineEnd.LOST:
            tell(self._ports.exchange, attempt.claimed.lease, EventKind.FINISHED)
        return end

    def _tell_cleanup(self, claimed: Claimed, end: LineEnd, problem: str | None, pulse: Pulse) -> None:
        if end is not LineEnd.LOST:
            self._recorder.record_cleanup(claimed, problem, pulse)

    def _remove(self) -> str | None:
        """Remove the last attempt's folder, if it is there, and say why it could not be."""
        if self._undead is not None:
            return self._undead
        try:
            if self._folder is not None:
                self._folder.remove()
        except (TreeError, OSError) as error:
            _log.warning("workspace.kept", problem=str(error))
            return recordable(str(error))
        return None
