"""Reading a table of trials: task, arm, trial, outcome."""

import csv
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TextIO

from farm.errors import SpecError, did_you_mean
from farm.stats.comparison import Trial

COLUMNS = ("task", "arm", "trial", "outcome")
_WORDS = {"true": Fraction(1), "false": Fraction(0), "pass": Fraction(1), "fail": Fraction(0)}


def read_trials(path: Path) -> list[Trial]:
    """Read a CSV file with a header; raise SpecError naming the line and the value that is wrong.

    An outcome is a number, or true, false, pass or fail; other columns are left alone.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            found = list(_trials(file, path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path} can't be read as a CSV file in UTF-8: {error}") from error
    if not found:
        raise SpecError(f"{path} holds no trials; write one line for each below the header {','.join(COLUMNS)}")
    return found


def _trials(file: TextIO, path: Path) -> Iterator[Trial]:
    reader = csv.DictReader(file, strict=True)
    names = tuple(reader.fieldnames or ())
    for column in COLUMNS:
        if column not in names:
            raise SpecError(
                f"{path} has no column {column!r}; {did_you_mean(column, names) if names else 'it is empty'}"
            )
    seen: dict[tuple[str, str, str], int] = {}
    for row in reader:
        line = reader.line_num
        values = {column: (row[column] or "").strip() for column in COLUMNS}
        empty = next((column for column, value in values.items() if not value), None)
        if empty is not None:
            raise SpecError(f"{path}:{line} has no {empty}; a run without an outcome is left out, line and all")
        key = (values["task"], values["arm"], values["trial"])
        if key in seen:
            raise SpecError(f"{path}:{line} says again what line {seen[key]} says: {'/'.join(key)}; keep one of them")
        seen[key] = line
        yield Trial(*key, outcome=_outcome(values["outcome"], f"{path}:{line}"))


def _outcome(text: str, place: str) -> Fraction:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise SpecError(f"{place} has the outcome {text[:40]!r}; write a number, or true, false, pass or fail")
    return Fraction(repr(number))  # 0.1 is a tenth, and not the double next to it
