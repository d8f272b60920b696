"""The auditor: whether the records of one sweep, at any moment and after any fault, are what the protocol allows.

Over any store. It knows the invariants by their number: I1 one result a cell, of an outcome that stands; I2 every
digest is that of the stored bytes; I3 no cell is lost; I5 only the holder of the fence writes, and nothing final is
run again; I7 the end is written in its order, and nothing that stood goes away; I8 every claim is accounted for.
What outlives a sweep outside the store (I4), windows (I6) and the time that a stop takes (I9) leave no record.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from pydantic import BaseModel

from farm.audit.blobs import check_blobs
from farm.audit.findings import Notebook
from farm.errors import IntegrityError
from farm.model import (
    AttemptCleanup,
    Claim,
    CleanupRecord,
    Close,
    CloseReason,
    Digest,
    FaultKind,
    Outcome,
    Plan,
    Result,
    Seal,
    SettledCell,
    Settlement,
    SweepId,
    Unsettled,
    Verdict,
    parse_record,
    result_of,
)
from farm.model.keys import (
    AttemptFile,
    attempt_place,
    cleanup_key,
    close_key,
    outcome_key,
    plan_key,
    result_key,
    results_prefix,
    seal_key,
    settlement_key,
    sweep_root,
    verdict_key,
)
from farm.ports import BlobStore, Records

V = TypeVar("V", bound=BaseModel)


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """An invariant that does not hold."""

    invariant: str
    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit saw."""

    violations: tuple[Violation, ...]
    digests: Mapping[str, Digest]
    """Of every record that stands: what a later audit takes as `earlier`."""
    results: int
    claims: int

    @property
    def told(self) -> str:
        """Tell every violation, one a line."""
        return "\n".join(f"{one.invariant} {one.where}: {one.problem}" for one in self.violations)


def audit(
    records: Records, blobs: BlobStore | None, sweep: SweepId, earlier: Mapping[str, Digest] | None = None
) -> Audited:
    """Check all that stands of the sweep, finished or not; without `blobs` no artifact is read.

    `earlier` is what an audit saw before: none of it may be gone or changed.
    """
    walk = _Walk(records, blobs, sweep)
    walk.run()
    walk.compare(earlier or {})
    return Audited(
        violations=tuple(sorted(set(walk.violations))),
        digests=walk.digests,
        results=sum(1 for key in walk.digests if key.startswith(results_prefix(sweep))),
        claims=sum(len(kept.claims) for kept in walk.cells.values()),
    )


@dataclass(slots=True)
class _Kept:
    """The attempts of one cell."""

    claims: dict[int, Claim] = field(default_factory=dict)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    cleanups: dict[int, AttemptCleanup] = field(default_factory=dict)

    @property
    def records(self) -> Iterator[Outcome | AttemptCleanup]:
        yield from self.outcomes.values()
        yield from self.cleanups.values()

    @property
    def last(self) -> int:
        return max((*self.claims, *self.outcomes), default=0)


@dataclass(slots=True)
class _Walk:
    records: Records
    blobs: BlobStore | None
    sweep: SweepId
    violations: list[Violation] = field(default_factory=list)
    bodies: dict[str, bytes] = field(default_factory=dict)
    digests: dict[str, Digest] = field(default_factory=dict)
    cells: defaultdict[str, _Kept] = field(default_factory=lambda: defaultdict(_Kept))

    def run(self) -> None:
        for key in self.records.keys(sweep_root(self.sweep)):
            self._body(key)
        plan = self._plan()
        if plan is None:
            self._say("I3", plan_key(self.sweep), "there is no plan")
            return
        self._sort_attempts()
        for cell, kept in self.cells.items():
            self._check_attempts(cell, kept, plan)
        for key in tuple(self.digests):
            if key.startswith(results_prefix(self.sweep)):
                self._check_result(key, plan)
        self._check_end(plan)
        if self.blobs is not None:
            self._check_blobs(self.blobs)

    def compare(self, earlier: Mapping[str, Digest]) -> None:
        for key, digest in earlier.items():
            if self._digest(key) != digest:
                self._say("I7", key, f"it was {digest} and is {self.digests.get(key)}: records are never changed")

    def _say(self, invariant: str, where: str, problem: str) -> None:
        self.violations.append(Violation(invariant, where, problem))

    def _body(self, key: str) -> bytes | None:
        """Read a record once; one that was written since the keys were listed is found too."""
        if key not in self.bodies:
            body = self.records.read(key)
            if body is None:
                return None
            self.bodies[key], self.digests[key] = body, Digest.of(body)
        return self.bodies[key]

    def _digest(self, key: str) -> Digest | None:
        return None if self._body(key) is None else self.digests[key]

    def _read(self, kind: type[V], key: str) -> V | None:
        body = self._body(key)
        if body is None:
            return None
        try:
            return parse_record(kind, body, key)
        except IntegrityError as error:
            self._say("I2", key, str(error))
            return None

    def _plan(self) -> Plan | None:
        body = self._body(plan_key(self.sweep))
        return None if body is None else _parsed_plan(body)

    def _sort_attempts(self) -> None:
        for key in tuple(self.digests):
            place = attempt_place(key.removeprefix(sweep_root(self.sweep)))
            if place is None:
                continue
            kept = self.cells[place.cell]
            match place.file:
                case AttemptFile.CLAIM:
                    claim = self._read(Claim, key)
                    if claim is not None:
                        kept.claims[place.attempt] = claim
                case AttemptFile.OUTCOME:
                    outcome = self._read(Outcome, key)
                    if outcome is not None:
                        kept.outcomes[place.attempt] = outcome
                case AttemptFile.CLEANUP:
                    cleanup = self._read(AttemptCleanup, key)
                    if cleanup is not None:
                        kept.cleanups[place.attempt] = cleanup

    def _check_attempts(self, cell: str, kept: _Kept, plan: Plan) -> None:
        index = plan.index_by_cell.get(cell)
        if index is None:
            self._say("I5", cell, "the plan holds no such cell")
            return
        for attempt in range(1, kept.last + 1):
            claim, outcome = kept.claims.get(attempt), kept.outcomes.get(attempt)
            where = f"{cell} attempt {attempt}"
            if claim is None:
                self._say("I5", where, f"nobody claimed it, and the cell has attempt {kept.last}")
            elif (claim.sweep, claim.cell, claim.attempt) != (self.sweep, cell, attempt):
                self._say("I5", where, f"its claim is of attempt {claim.attempt} of {claim.cell}")
            if outcome is not None:
                self._check_outcome(where, outcome, (self.sweep, plan.digest, cell, attempt))
                if claim is not None and (outcome.holder, outcome.host) != (claim.holder, claim.host):
                    self._say("I5", where, f"{claim.holder} claimed it and {outcome.holder} wrote its outcome")
            if attempt < kept.last and (problem := _final(outcome, plan)):
                self._say("I5", f"{cell} attempt {attempt + 1}", f"it was begun though {problem}")
        counted = sum(not one.is_interrupted for one in kept.outcomes.values())
        most = max(plan.retry.most_attempts, plan.retry.outage_attempts)
        if counted > most:
            self._say("I8", cell, f"{counted} attempts count; the plan allows {most}")

    def _check_outcome(self, where: str, outcome: Outcome, place: tuple[SweepId, Digest, str, int]) -> None:
        if (outcome.sweep, outcome.plan, outcome.cell, outcome.attempt) != place:
            self._say("I5", where, f"its outcome is of attempt {outcome.attempt} of {outcome.cell}")

    def _check_result(self, key: str, plan: Plan) -> None:
        result = self._read(Result, key)
        if result is None:
            return
        if key != result_key(self.sweep, result.cell) or result.cell not in plan.index_by_cell:
            self._say("I1", key, f"it is the result of {result.cell}")
            return
        named = outcome_key(self.sweep, result.cell, result.attempt)
        outcome, digest = self._read(Outcome, named), self._digest(named)
        if outcome is None or digest is None:
            self._say("I1", key, f"it counts attempt {result.attempt}, which has no outcome")
            return
        if result != result_of(outcome, digest):
            self._say("I2", key, f"it is not what outcome {digest} of attempt {result.attempt} makes")
        if outcome.is_interrupted or outcome.late:
            self._say("I1", key, "it counts an outcome that is interrupted or late")
        if self.cells[result.cell].last > result.attempt:
            self._say("I1", key, f"it counts attempt {result.attempt}, and another was begun after it")

    def _check_end(self, plan: Plan) -> None:
        keys = [key(self.sweep) for key in (close_key, settlement_key, cleanup_key, seal_key)]
        for before, after in pairwise(keys):
            if self._body(after) is not None and self._body(before) is None:
                self._say("I7", after, f"it stands and {before} does not")
        close = self._read(Close, close_key(self.sweep))
        if close is not None and close.reason is CloseReason.COMPLETE:
            for cell in plan.cells:
                if self._body(result_key(self.sweep, cell.id)) is None:
                    self._say("I3", cell.id, "the sweep closed as complete and it has no result")
        settlement = self._read(Settlement, settlement_key(self.sweep))
        if settlement is not None:
            self._check_settlement(settlement, plan)
        cleanup = self._read(CleanupRecord, cleanup_key(self.sweep))
        if cleanup is not None:
            self._expect(cleanup_key(self.sweep), settlement_key(self.sweep), cleanup.settlement)
            if cleanup.complete and settlement is not None and not settlement.workers_settled:
                self._say("I7", cleanup_key(self.sweep), "all was cleaned up, and workers had not settled")
        self._check_seal(plan)

    def _check_seal(self, plan: Plan) -> None:
        for pin in plan.gates:
            where = verdict_key(self.sweep, pin.name)
            verdict = self._read(Verdict, where)
            if verdict is not None:
                self._expect(where, settlement_key(self.sweep), verdict.settlement)
                self._expect(where, cleanup_key(self.sweep), verdict.cleanup)
        seal = self._read(Seal, seal_key(self.sweep))
        for sealed in () if seal is None else seal.records:
            self._expect(seal_key(self.sweep), sweep_root(self.sweep) + sealed.key, sealed.digest)

    def _expect(self, source: str, key: str, digest: Digest) -> None:
        found = self._digest(key)
        if found != digest:
            self._say("I2", source, f"it names {key} as {digest}, and that is {found}")

    def _check_settlement(self, settlement: Settlement, plan: Plan) -> None:
        where = settlement_key(self.sweep)
        self._expect(where, plan_key(self.sweep), settlement.plan)
        self._expect(where, close_key(self.sweep), settlement.close)
        if [settled.cell for settled in settlement.cells] != [cell.id for cell in plan.cells]:
            self._say("I3", where, "its cells are not the plan's, each once and in order")
        for settled in settlement.cells:
            self._check_settled(settled)
            if settlement.workers_settled:
                self._check_nothing_followed(settled)
            if settled.unsettled is Unsettled.STILL_RUNNING and settlement.workers_settled:
                self._say("I7", where, f"{settled.cell} still ran, and all workers had settled")

    def _check_settled(self, settled: SettledCell) -> None:
        where = settlement_key(self.sweep)
        if (settled.result is None) == (settled.unsettled is None):
            self._say("I3", where, f"{settled.cell} has a result and a reason for none, or neither")
        if settled.result is not None:
            self._expect(where, result_key(self.sweep, settled.cell), settled.result)
        for sealed in settled.attempts:
            self._expect(where, sweep_root(self.sweep) + sealed.key, sealed.digest)
        places = tuple(settled.places)
        claimed = {place.attempt for place in places if place.file is AttemptFile.CLAIM}
        ended = {place.attempt for place in places if place.file is AttemptFile.OUTCOME}
        if claimed - ended and settled.unsettled is not Unsettled.STILL_RUNNING:
            self._say("I8", where, f"{settled.cell}: attempts {sorted(claimed - ended)} were claimed and never ended")

    def _check_nothing_followed(self, settled: SettledCell) -> None:
        """What a worker began beside a settlement that says that all had ended may only have been broken off."""
        named = {place.attempt for place in settled.places if place.file is AttemptFile.OUTCOME}
        for attempt, outcome in self.cells[settled.cell].outcomes.items():
            # a claim that came too late does nothing; who has not seen the close yet may say that its worker is lost
            is_broken_off = outcome.is_interrupted or (
                outcome.fault is not None and outcome.fault.kind is FaultKind.LOST
            )
            if attempt not in named and not is_broken_off:
                self._say("I7", f"{settled.cell} attempt {attempt}", "it was run, and all workers had settled before")

    def _check_blobs(self, blobs: BlobStore) -> None:
        notebook = Notebook()
        attempts = (one for kept in self.cells.values() for one in kept.records)
        named = {
            artifact.digest: f"artifact {artifact.role} of {one.cell}" for one in attempts for artifact in one.artifacts
        }
        check_blobs(named, blobs, notebook)
        for flaw in notebook.flaws:
            self._say("I2", flaw.where, flaw.problem)


@lru_cache(maxsize=16)
def _parsed_plan(body: bytes) -> Plan:
    """Read a plan once for many audits; one that is no plan raises IntegrityError, since nothing can be said then."""
    return parse_record(Plan, body, "plan.json")


def _final(outcome: Outcome | None, plan: Plan) -> str | None:
    """Say why no attempt may follow this one; None where one may."""
    if outcome is None:
        return "the one before has no outcome"
    if outcome.fault is None:
        return "the one before is evidence"
    is_tried_again = outcome.fault.is_open or outcome.fault.kind in plan.retry.kinds
    return None if is_tried_again else f"a {outcome.fault.kind} fault is never tried again"
