"""What the records of a sweep say of its cells: so a crash of the coordinator, or of Redis, costs time alone."""

from dataclasses import dataclass

from farm.coordinator.sweep_records import SweepRecords
from farm.errors import IntegrityError
from farm.model import CellId
from farm.model.keys import attempts_prefix, results_prefix


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
    attempted = (latest[index] for index in sorted(latest) if index not in settled)
    return History(settled=tuple(sorted(settled)), attempted=tuple(attempted))


def _latest_attempts(records: SweepRecords) -> dict[int, KnownAttempt]:
    prefix = attempts_prefix(records.sweep)
    latest = dict[int, KnownAttempt]()
    for key in records.keys(prefix):
        cell, number, file = _parts(key.removeprefix(prefix), key)
        index, attempt = _index(records, cell, key), int(number)
        known = latest.get(index)
        if known is None or attempt > known.attempt:
            known = KnownAttempt(index, attempt, has_outcome=False)
        if attempt == known.attempt and file == "outcome.json":
            known = KnownAttempt(index, attempt, has_outcome=True)
        latest[index] = known
    return latest


def _parts(path: str, key: str) -> list[str]:
    parts = path.split("/")
    if len(parts) != 3 or not parts[1].isdecimal():  # noqa: PLR2004 (cell, attempt, file)
        raise IntegrityError(f"{key} is no attempt's record; somebody else wrote into the sweep's folder")
    return parts


def _index(records: SweepRecords, cell: str, key: str) -> int:
    index = records.plan.index_by_cell.get(CellId(cell))
    if index is None:
        raise IntegrityError(f"{key} names a cell that the plan does not hold; somebody else wrote into the folder")
    return index
