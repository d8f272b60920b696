"""The last faults of a sweep, from its records: what a person looks for when cells fail."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from farm.cli.counting import Count, Outline, set_bits
from farm.model import CellId, Outcome, Result, ResultStatus, SweepId, parse_record
from farm.model.keys import (
    AttemptFile,
    AttemptPlace,
    attempt_place,
    attempts_prefix,
    outcome_key,
    result_key,
    sweep_root,
)
from farm.ports import Records

_MOST_READ = 20
"""Outcomes that are read at most: those of the cells that come last in the plan."""
_MOST_TOLD = 5
_FEW = 2000
"""Cells whose attempts are listed in a moment, all of them."""
_MOST_OPEN = 32


@dataclass(frozen=True, slots=True)
class ToldFault:
    """Why one attempt counts for nothing."""

    cell: CellId
    attempt: int
    kind: str
    detail: str
    ended_at: datetime


def recent_faults(records: Records, outlined: Outline, counted: Count) -> tuple[ToldFault, ...]:
    """Read the latest faults, oldest first: a listing or some dozens, and a bounded number of outcomes."""
    root, index = sweep_root(outlined.sweep), outlined.index_by_cell
    places = (attempt_place(key.removeprefix(root)) for key in _attempt_keys(records, outlined, counted))
    failed = [
        place for place in places if place is not None and place.cell in index and place.file is AttemptFile.OUTCOME
    ]
    failed.sort(key=lambda place: (index[place.cell], place.attempt))
    results = _Results(records, outlined.sweep, counted.read)
    latest = (place for place in reversed(failed) if not results.measures(place))
    told = [
        fault for place in islice(latest, _MOST_READ) if (fault := _read(records, outlined.sweep, place)) is not None
    ]
    return tuple(sorted(told, key=lambda fault: fault.ended_at)[-_MOST_TOLD:])


def _attempt_keys(records: Records, outlined: Outline, counted: Count) -> Iterator[str]:
    """List the attempts of a small sweep; of a big one those of cells that had trouble, and of the first open ones."""
    prefix = attempts_prefix(outlined.sweep)
    if counted.settled.bit_count() <= _FEW:
        yield from records.keys(prefix)
        return
    tried = (outlined.index_by_cell[cell] for cell, one in counted.read.items() if one.fault or one.attempt > 1)
    troubled = sorted({*set_bits(counted.troubled), *tried})[-_MOST_READ:]
    open_cells = set_bits((1 << len(outlined.cells)) - 1 & ~counted.settled)
    for index in (*troubled, *islice(open_cells, _MOST_OPEN)):
        yield from records.keys(f"{prefix}{outlined.cells[index]}/")


@dataclass(frozen=True, slots=True)
class _Results:
    records: Records
    sweep: SweepId
    known: Mapping[CellId, Result]

    def measures(self, place: AttemptPlace) -> bool:
        """Say whether this is the attempt that measured its cell."""
        result = self.known.get(place.cell) or self._read(place.cell)
        return result is not None and result.status is ResultStatus.MEASURED and result.attempt == place.attempt

    def _read(self, cell: CellId) -> Result | None:
        key = result_key(self.sweep, cell)
        body = self.records.read(key)
        return None if body is None else parse_record(Result, body, key)


def _read(records: Records, sweep: SweepId, place: AttemptPlace) -> ToldFault | None:
    key = outcome_key(sweep, place.cell, place.attempt)
    body = records.read(key)
    outcome = None if body is None else parse_record(Outcome, body, key)
    if outcome is None or outcome.fault is None:
        return None  # evidence whose result is about to be written, or that came too late
    return ToldFault(place.cell, place.attempt, outcome.fault.kind, outcome.fault.detail, outcome.ended_at)
