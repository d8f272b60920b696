"""The last faults of a sweep, from its records: what a person looks for when cells fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from farm.model import CellId, Outcome, Plan, Result, ResultStatus, SweepId, parse_record
from farm.model.keys import AttemptFile, AttemptPlace, attempt_place, attempts_prefix, outcome_key, sweep_root
from farm.ports import Store

_MOST_READ = 20
"""Outcomes that are read at most: those of the cells that come last in the plan."""
_MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class ToldFault:
    """Why one attempt counts for nothing."""

    cell: CellId
    attempt: int
    kind: str
    detail: str
    ended_at: datetime


def recent_faults(store: Store, sweep: SweepId, plan: Plan, results: Mapping[CellId, Result]) -> tuple[ToldFault, ...]:
    """Read the latest faults, oldest first: a listing, and a bounded number of outcomes."""
    places = (attempt_place(key.removeprefix(sweep_root(sweep))) for key in store.records.keys(attempts_prefix(sweep)))
    index = plan.index_by_cell
    failed = [place for place in places if place is not None and place.cell in index and _has_failed(place, results)]
    failed.sort(key=lambda place: (index[place.cell], place.attempt))
    told = [fault for place in failed[-_MOST_READ:] if (fault := _read(store, sweep, place)) is not None]
    return tuple(sorted(told, key=lambda fault: fault.ended_at)[-_MOST_TOLD:])


def _has_failed(place: AttemptPlace, results: Mapping[CellId, Result]) -> bool:
    """Say whether the attempt has an outcome, and not the one that measured its cell."""
    result = results.get(place.cell)
    is_measured = result is not None and result.status is ResultStatus.MEASURED and result.attempt == place.attempt
    return place.file is AttemptFile.OUTCOME and not is_measured


def _read(store: Store, sweep: SweepId, place: AttemptPlace) -> ToldFault | None:
    key = outcome_key(sweep, place.cell, place.attempt)
    body = store.records.read(key)
    outcome = None if body is None else parse_record(Outcome, body, key)
    if outcome is None or outcome.fault is None:
        return None  # evidence whose result is about to be written, or that came too late
    return ToldFault(place.cell, place.attempt, outcome.fault.kind, outcome.fault.detail, outcome.ended_at)
