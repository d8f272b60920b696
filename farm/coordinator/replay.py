"""What the records of a sweep say of its cells: so a crash of the coordinator, or of Redis, costs time alone."""

from collections.abc import Iterator
from dataclasses import dataclass

from farm.coordinator.sweep_records import SweepRecords
from farm.errors import IntegrityError
from farm.model import CellId
from farm.model.keys import AttemptFile, attempt_place, attempts_prefix, results_prefix, sweep_root

_FEW = 16
_FEW_AMONG = 300
"""A remote store lists a thousand keys, of about three hundred cells, in the time of one question."""


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
    """List the sweep's results, and the attempts of the cells without one; nothing is read.

    A result that lands meanwhile is found when its cell's attempt is looked into.
    """
    prefix = results_prefix(records.sweep)
    there = (_index(records, key.removeprefix(prefix).removesuffix(".json"), key) for key in records.keys(prefix))
    settled = sorted(filter(records.is_here, there))
    attempted = _latest_attempts(records, frozenset(settled))
    return History(settled=tuple(settled), attempted=tuple(attempted[index] for index in sorted(attempted)))


def _latest_attempts(records: SweepRecords, settled: frozenset[int]) -> dict[int, KnownAttempt]:
    root = sweep_root(records.sweep)
    latest = dict[int, KnownAttempt]()
    for key in _attempt_keys(records, settled):
        place = attempt_place(key.removeprefix(root))
        if place is None:
            raise IntegrityError(f"{key} is no attempt's record; somebody else wrote into the sweep's folder")
        index, attempt = _index(records, place.cell, key), place.attempt
        if index in settled or not records.is_here(index):
            continue
        known = latest.get(index)
        if known is None or attempt > known.attempt:
            known = KnownAttempt(index, attempt, has_outcome=False)
        if attempt == known.attempt and place.file is AttemptFile.OUTCOME:
            known = KnownAttempt(index, attempt, has_outcome=True)
        latest[index] = known
    return latest


def _attempt_keys(records: SweepRecords, settled: frozenset[int]) -> Iterator[str]:
    """List the attempts of every open cell; of these alone where they are few: most of a sweep's keys are here."""
    cells = records.plan.cells
    missing = [index for index in range(len(cells)) if index not in settled and records.is_here(index)]
    if len(missing) > max(_FEW, len(settled) // _FEW_AMONG):
        yield from records.keys(attempts_prefix(records.sweep))
        return
    for index in missing:
        yield from records.keys(f"{attempts_prefix(records.sweep)}{cells[index].id}/")


def _index(records: SweepRecords, cell: str, key: str) -> int:
    index = records.plan.index_by_cell.get(CellId(cell))
    if index is None:
        raise IntegrityError(f"{key} names a cell that the plan does not hold; somebody else wrote into the folder")
    return index
