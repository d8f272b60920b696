"""The contamination alarm: arms of one task and trial that left the same change, as if one had found another's work.

The rule, which warns and decides nothing:

- the same files left the same, byte for byte, where at least ten lines were changed. Less is not told: two arms that
  make the same small fix are no wonder;
- other bytes in equally many files, with equally many added and removed lines, at least fifty in all. Under that, equal
  counts are mostly chance; without a fingerprint (not all could be read) they are all that there is.

What a program does not call work is not compared: a plan does not hide that the work after it was found. An arm that
changes a file more than it found is not seen. Binary files have no lines, so a change of nothing else is not told.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from farm.gates.table import Row
from farm.model import Churn, Digest
from farm.model.base import Value

LEAST_OF_A_CHANGE = 10
LEAST_OF_COUNTS = 50


class Likeness(StrEnum):
    """In what changes are alike."""

    BYTES = "the same change"
    COUNTS = "equal counts"


class Contamination(Value):
    """Cells of one task and trial, each of another arm, that left the same change."""

    likeness: Likeness
    cells: tuple[str, ...]
    files: int
    added_lines: int | None
    """None: more was changed than could be counted."""
    removed_lines: int | None

    @property
    def sentence(self) -> str:
        """Say it in one line."""
        lines = "uncounted lines" if self.added_lines is None else f"+{self.added_lines} -{self.removed_lines} lines"
        files = "1 file" if self.files == 1 else f"{self.files} files"
        return (
            f"Contamination? {', '.join(self.cells)} left {self.likeness} ({files}, {lines}): "
            "look whether one found another's work."
        )


def contaminations(rows: Iterable[Row]) -> tuple[Contamination, ...]:
    """Find what is too much alike among the arms of each task and trial."""
    blocks: dict[tuple[str, int], list[_Changed]] = {}
    for row in rows:
        if row.churn is not None and row.churn.files > 0:
            blocks.setdefault((row.task, row.trial), []).append(_Changed(row.cell, row.churn))
    return tuple(found for block in blocks.values() for found in (*_same_bytes(block), *_same_counts(block)))


@dataclass(frozen=True, slots=True)
class _Changed:
    """A cell whose sessions changed something."""

    cell: str
    churn: Churn


def _same_bytes(block: Sequence[_Changed]) -> Iterator[Contamination]:
    alike: dict[Digest, list[_Changed]] = {}
    for one in block:
        if one.churn.fingerprint is not None:
            alike.setdefault(one.churn.fingerprint, []).append(one)
    for same in alike.values():
        if len(same) > 1 and min(_lines(one.churn, LEAST_OF_A_CHANGE) for one in same) >= LEAST_OF_A_CHANGE:
            yield _contamination(Likeness.BYTES, same)


def _same_counts(block: Sequence[_Changed]) -> Iterator[Contamination]:
    alike: dict[Churn, list[_Changed]] = {}
    for one in block:
        alike.setdefault(one.churn.counts, []).append(one)
    for churn, same in alike.items():
        prints = {one.churn.fingerprint for one in same}
        if len(same) > 1 and (len(prints) > 1 or None in prints) and _lines(churn, 0) >= LEAST_OF_COUNTS:
            yield _contamination(Likeness.COUNTS, same)


def _lines(churn: Churn, unknown: int) -> int:
    """Count the lines; `unknown` stands for what could not be counted."""
    if churn.added_lines is None or churn.removed_lines is None:
        return unknown
    return churn.added_lines + churn.removed_lines


def _contamination(likeness: Likeness, same: Sequence[_Changed]) -> Contamination:
    churn = same[0].churn
    return Contamination(
        likeness=likeness,
        cells=tuple(one.cell for one in same),
        files=churn.files,
        added_lines=churn.added_lines,
        removed_lines=churn.removed_lines,
    )
