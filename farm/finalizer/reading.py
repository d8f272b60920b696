"""The settled records, read back and checked against the digests that the settlement holds."""

from collections.abc import Mapping
from dataclasses import dataclass

from farm.errors import IntegrityError
from farm.finalizer.writing import V, Written, required
from farm.gates.tabulate import SettledRecords
from farm.model import (
    Artifact,
    AttemptCleanup,
    CellId,
    CleanupRecord,
    Close,
    Digest,
    Opening,
    Outcome,
    Plan,
    Result,
    SettledCell,
    Settlement,
    SweepId,
)
from farm.model.keys import (
    attempt_cleanup_key,
    cleanup_key,
    close_key,
    open_key,
    outcome_key,
    plan_key,
    result_key,
    settlement_key,
    sweep_root,
)
from farm.ports import Records


@dataclass(frozen=True, slots=True)
class Head:
    """The records that head a settled sweep."""

    plan: Written[Plan]
    opening: Written[Opening]
    close: Written[Close]
    settlement: Written[Settlement]
    cleanup: Written[CleanupRecord]

    @property
    def sweep(self) -> SweepId:
        return self.settlement.value.sweep


def read_head(sweep: SweepId, records: Records) -> Head:
    """Read the head of a sweep that was cleaned up."""
    return Head(
        plan=required(records, plan_key(sweep), Plan),
        opening=required(records, open_key(sweep), Opening),
        close=required(records, close_key(sweep), Close),
        settlement=required(records, settlement_key(sweep), Settlement),
        cleanup=required(records, cleanup_key(sweep), CleanupRecord),
    )


@dataclass(frozen=True, slots=True)
class CellRecords:
    """What the settlement counts of one cell."""

    counted: Outcome | None
    cleanup: AttemptCleanup | None
    """After the counted attempt, or the last one when none counts."""
    outcomes: tuple[Outcome, ...]
    """Of every attempt, oldest first."""
    cleanups: tuple[AttemptCleanup, ...]
    """Of every attempt, oldest first."""


def read_cells(head: Head, records: Records) -> Mapping[CellId, CellRecords]:
    """Read every record that the settlement names; raise IntegrityError for one that is not what was settled."""
    sweep = head.sweep
    return {settled.cell: _cell(sweep, settled, records) for settled in head.settlement.value.cells}


def left_artifacts(cleanups: tuple[AttemptCleanup, ...]) -> Mapping[int, tuple[Artifact, ...]]:
    """Give what was found of workers that died, by attempt."""
    return {cleanup.attempt: cleanup.artifacts for cleanup in cleanups if cleanup.artifacts}


def settled_records(head: Head, cells: Mapping[CellId, CellRecords]) -> SettledRecords:
    """Arrange what was read for the table."""
    return SettledRecords(
        plan=head.plan.value,
        close=head.close.value,
        settlement=head.settlement.value,
        cleanup=head.cleanup.value,
        outcomes={cell: read.counted for cell, read in cells.items() if read.counted is not None},
        cleanups={cell: read.cleanup for cell, read in cells.items() if read.cleanup is not None},
        attempts={cell: read.outcomes for cell, read in cells.items()},
    )


def _cell(sweep: SweepId, settled: SettledCell, records: Records) -> CellRecords:
    root = sweep_root(sweep)
    sealed = {root + kept.key: kept.digest for kept in settled.attempts}
    attempts = sorted({place.attempt for place in settled.places})
    cleanups = {
        attempt: _checked(records, key, sealed[key], AttemptCleanup)
        for attempt in attempts
        if (key := attempt_cleanup_key(sweep, settled.cell, attempt)) in sealed
    }
    by_attempt = {
        attempt: _checked(records, key, sealed[key], Outcome)
        for attempt in attempts
        if (key := outcome_key(sweep, settled.cell, attempt)) in sealed
    }
    last = attempts[-1] if attempts else 0
    counted: Outcome | None = None
    if settled.result is not None:
        result = _checked(records, result_key(sweep, settled.cell), settled.result, Result)
        last, counted = result.attempt, by_attempt.get(result.attempt)
        if sealed.get(outcome_key(sweep, settled.cell, last)) != result.outcome:
            raise IntegrityError(f"the result of {settled.cell} names outcome {result.outcome}, which was not settled")
    return CellRecords(
        counted=counted,
        cleanup=cleanups.get(last),
        outcomes=tuple(by_attempt.values()),
        cleanups=tuple(cleanups.values()),
    )


def _checked(records: Records, key: str, digest: Digest, kind: type[V]) -> V:
    written = required(records, key, kind)
    if written.digest != digest:
        raise IntegrityError(f"{key} has digest {written.digest}; {digest} was settled: the stored bytes were changed")
    return written.value
