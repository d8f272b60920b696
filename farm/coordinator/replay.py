"""What the records of a sweep say of its cells: so a crash of the coordinator, or of Redis, costs time alone."""

from dataclasses import dataclass

from farm.coordinator.sweep_records import SweepRecords
from farm.errors import IntegrityError
from farm.model import CellId
from farm.model.keys import AttemptFile, attempt_place, attempts_prefix, results_prefix, sweep_root


@dataclass(frozen=True, slots=True)
class KnownAttempt:
    """The latest attempt of a cell that has no result."""

    index: int
    attempt: int
    has_outcome: bool


@dataclass(frozen=True, slots=True)
class History:
    """Cells by index, each list in plan order."""

    settled: tuple[int, ...]
    attempted: tuple[KnownAttempt, ...]
    """Cells that were claimed and have no result."""


def read_history(records: SweepRecords) -> History:
    """List the sweep's results and attempts, twice a listing and no read."""
    # attempts first: a result that lands between the two listings is then seen
    latest = _latest_attempts(records)
    prefix = results_prefix(records.sweep)
    settled = {_index(records, key.removeprefix(prefix).removesuffix(".json"), key) for key in records.keys(prefix)}
    attempted = (latest[index] for index in sorted(latest) if index not in settled and records.is_here(index))
    return History(settled=tuple(sorted(filter(records.is_here, settled))), attempted=tuple(attempted))


def _latest_attempts(records: SweepRecords) -> dict[int, KnownAttempt]:
    root = sweep_root(records.sweep)
    latest = dict[int, KnownAttempt]()
    for key in records.keys(attempts_prefix(records.sweep)):
        place = attempt_place(key.removeprefix(root))
        if place is None:
            raise IntegrityError(f"{key} is no attempt's record; somebody else wrote into the sweep's folder")
        index, attempt = _index(records, place.cell, key), place.attempt
        known = latest.get(index)
        if known is None or attempt > known.attempt:
            known = KnownAttempt(index, attempt, has_outcome=False)
        if attempt == known.attempt and place.file is AttemptFile.OUTCOME:
            known = KnownAttempt(index, attempt, has_outcome=True)
        latest[index] = known
    return latest


def _index(records: SweepRecords, cell: str, key: str) -> int:
    index = records.plan.index_by_cell.get(CellId(cell))
    if index is None:
        raise IntegrityError(f"{key} names a cell that the plan does not hold; somebody else wrote into the folder")
    return index
