"""The contamination alarm: arms of one task and trial that left the same change, as if one had found another's work.

The rule, which warns and decides nothing:

- the same patch, byte for byte, of at least ten lines. Shorter ones are not told: two arms that make the same small fix
  are no wonder;
- different patches of equally many files, added and removed lines, at least fifty lines in all. Under that, equal
  counts are mostly chance; without a patch to compare (it was cut) they are all that there is.

It sees whole patches only: an arm that adds a file of its own to what it found is not seen. Binary files have no lines,
so a change of nothing else is not told either.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from farm.gates.table import Row
from farm.model import Churn
from farm.model.base import Value

LEAST_OF_A_PATCH = 10
LEAST_OF_COUNTS = 50


class Likeness(StrEnum):
    """In what changes are alike."""

    PATCH = "the same patch"
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
    blocks: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        if row.churn is not None and row.churn.files > 0:
            blocks.setdefault((row.task, row.trial), []).append(row)
    return tuple(found for block in blocks.values() for found in _of_block(block))


def _of_block(rows: Sequence[Row]) -> Iterator[Contamination]:
    alike: dict[Churn, list[Row]] = {}
    for row in rows:
        if row.churn is not None:
            alike.setdefault(row.churn, []).append(row)
    for churn, same in alike.items():
        patches = {row.patch for row in same}
        for patch in sorted(patch for patch in patches if patch is not None):
            holders = [row for row in same if row.patch == patch]
            if len(holders) > 1 and _lines(churn, LEAST_OF_A_PATCH) >= LEAST_OF_A_PATCH:
                yield _contamination(Likeness.PATCH, churn, holders)
        is_mixed = len(patches) > 1 or patches == {None}
        if len(same) > 1 and is_mixed and _lines(churn, 0) >= LEAST_OF_COUNTS:
            yield _contamination(Likeness.COUNTS, churn, same)


def _lines(churn: Churn, unknown: int) -> int:
    """Count the lines; `unknown` stands for what could not be counted."""
    if churn.added_lines is None or churn.removed_lines is None:
        return unknown
    return churn.added_lines + churn.removed_lines


def _contamination(likeness: Likeness, churn: Churn, rows: Sequence[Row]) -> Contamination:
    return Contamination(
        likeness=likeness,
        cells=tuple(row.cell for row in rows),
        files=churn.files,
        added_lines=churn.added_lines,
        removed_lines=churn.removed_lines,
    )
