"""One sweep's records, as the coordinator reads and writes them."""

from dataclasses import dataclass
from datetime import datetime

from farm.coordinator.retry import LOST
from farm.errors import IntegrityError, SpecError
from farm.model import (
    Cancel,
    Claim,
    Close,
    CloseReason,
    Digest,
    Opening,
    Outcome,
    Plan,
    Result,
    Shard,
    ShardClose,
    SweepId,
    canonical_json,
    parse_record,
    result_of,
    taken_over,
)
from farm.model.keys import (
    cancel_key,
    claim_key,
    close_key,
    open_key,
    outcome_key,
    plan_key,
    result_key,
    shard_close_key,
)
from farm.ports import Records, read_required


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """An outcome and the digest of its stored bytes."""

    outcome: Outcome
    digest: Digest


Ended = Close | ShardClose
"""Why a coordinator sends nothing more."""


class SweepRecords:
    """Reads raise IntegrityError for bytes that are not this sweep's; every call may raise TransientError.

    With a shard they are that part's: its own close record, and none but its own cells.
    """

    def __init__(self, records: Records, sweep: SweepId, shard: Shard | None = None) -> None:
        """Read what heads the sweep; raise SpecError where it was not opened in such shards."""
        self._records = records
        self.sweep = sweep
        self.plan = parse_record(Plan, read_required(records, plan_key(sweep)), plan_key(sweep))
        self.opening = parse_record(Opening, read_required(records, open_key(sweep)), open_key(sweep))
        if self.opening.plan != self.plan.digest:
            raise IntegrityError(f"{plan_key(sweep)} has digest {self.plan.digest}, not the opened {self.opening.plan}")
        _ensure_such_shards(self.opening, shard)
        self.shard = shard
        self._own = None if shard is None else shard.cells(self.plan)
        self.elsewhere = () if self._own is None else tuple(sorted(set(range(len(self.plan.cells))) - self._own))
        """The cells of other shards."""

    @property
    def part(self) -> int:
        """Number our part of the sweep: a shard's number, or 0 for all of it."""
        return 0 if self.shard is None else self.shard.number

    def is_here(self, index: int) -> bool:
        """Say whether the cell is ours to dispatch."""
        return self._own is None or index in self._own

    def result(self, index: int) -> Result | None:
        """Return the cell's result."""
        key = result_key(self.sweep, self.plan.cells[index].id)
        body = self._records.read(key)
        if body is None:
            return None
        result = parse_record(Result, body, key)
        if (result.plan, result.cell) != (self.plan.digest, self.plan.cells[index].id):
            raise IntegrityError(f"{key} speaks of cell {result.cell} of plan {result.plan}: it is not this sweep's")
        return result

    def outcome(self, index: int, attempt: int) -> StoredOutcome | None:
        """Return the attempt's outcome."""
        key = outcome_key(self.sweep, self.plan.cells[index].id, attempt)
        body = self._records.read(key)
        if body is None:
            return None
        return StoredOutcome(parse_record(Outcome, body, key), Digest.of(body))

    def interrupted(self, index: int, attempt: int) -> int:
        """Count the attempts before this one that a person or a shutdown ended."""
        return sum(outcome is not None and outcome.is_interrupted for outcome in self.earlier(index, attempt))

    def earlier(self, index: int, attempt: int) -> tuple[Outcome | None, ...]:
        """Return the outcomes of the attempts before this one; None for each that left none."""
        stored = (self.outcome(index, number) for number in range(1, attempt))
        return tuple(None if one is None else one.outcome for one in stored)

    def counted(self, index: int, result: Result) -> Outcome:
        """Return the outcome that a result counts; raise IntegrityError when it is not the one that it names."""
        stored = self.outcome(index, result.attempt)
        if stored is None or stored.digest != result.outcome:
            found = "missing" if stored is None else stored.digest
            raise IntegrityError(f"the result of {result.cell} names outcome {result.outcome}; stored is: {found}")
        return stored.outcome

    def claim(self, index: int, attempt: int) -> Claim | None:
        """Return who claimed the attempt."""
        key = claim_key(self.sweep, self.plan.cells[index].id, attempt)
        body = self._records.read(key)
        return None if body is None else parse_record(Claim, body, key)

    def close(self) -> Ended | None:
        """Return the close record: the sweep's, or our shard's."""
        key = close_key(self.sweep)
        body = self._records.read(key)
        if body is not None or self.shard is None:
            return None if body is None else parse_record(Close, body, key)
        key = shard_close_key(self.sweep, self.shard.number)
        body = self._records.read(key)
        return None if body is None else parse_record(ShardClose, body, key)

    def cancel(self) -> Cancel | None:
        """Return the cancel record."""
        key = cancel_key(self.sweep)
        body = self._records.read(key)
        return None if body is None else parse_record(Cancel, body, key)

    def keys(self, prefix: str) -> tuple[str, ...]:
        """List the keys below `prefix`."""
        return tuple(self._records.keys(prefix))

    def settle(self, index: int, stored: StoredOutcome) -> None:
        """Write the result that the outcome makes, unless the cell has one."""
        body = canonical_json(result_of(stored.outcome, stored.digest))
        self._records.create(result_key(self.sweep, self.plan.cells[index].id), body)

    def take_over(self, index: int, body: bytes) -> None:
        """Write the outcome of a cell that an earlier sweep measured, unless it has one; `body` is that sweep's."""
        cell = self.plan.cells[index].id
        origin = self.plan.reused[cell]
        original = parse_record(Outcome, body, f"outcome {origin.outcome}, which the plan reuses for {cell}")
        outcome = taken_over(original, origin, self.sweep, self.plan.digest)
        key, wanted = outcome_key(self.sweep, cell, outcome.attempt), canonical_json(outcome)
        if not self._records.create(key, wanted) and self._records.read(key) != wanted:
            raise IntegrityError(f"{key} is not what {origin.sweep} measured; somebody else wrote into the folder")

    def write_lost(self, index: int, attempt: int, now: datetime) -> None:
        """Write a lost outcome for the attempt, unless it has one."""
        claim = self.claim(index, attempt)
        lost = Outcome(
            sweep=self.sweep,
            plan=self.plan.digest,
            cell=self.plan.cells[index].id,
            attempt=attempt,
            host=claim.host if claim else "",
            holder=claim.holder if claim else "",
            started_at=claim.claimed_at if claim else now,
            ended_at=now,
            fault=LOST,
        )
        self._records.create(outcome_key(self.sweep, lost.cell, attempt), canonical_json(lost))

    def write_close(self, reason: CloseReason, detail: str, now: datetime) -> Ended:
        """Write our close record, unless there is one; return the one that stands."""
        close: Ended
        if self.shard is None:
            key, close = close_key(self.sweep), Close(sweep=self.sweep, reason=reason, detail=detail, closed_at=now)
        else:
            key = shard_close_key(self.sweep, self.shard.number)
            close = ShardClose(sweep=self.sweep, shard=self.shard, reason=reason, detail=detail, closed_at=now)
        self._records.create(key, canonical_json(close))
        return self.close() or close


def _ensure_such_shards(opening: Opening, shard: Shard | None) -> None:
    if (1 if shard is None else shard.of) == opening.shards:
        return
    if opening.shards == 1:
        raise SpecError(f"sweep {opening.sweep} was opened in one piece: leave --shard out")
    named = "" if shard is None else f", not {shard.of}"
    raise SpecError(
        f"sweep {opening.sweep} was opened in {opening.shards} shards{named}: "
        f"name one, for example --shard 1/{opening.shards}"
    )
