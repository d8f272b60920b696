"""What cells took together: exact, with what nobody knows beside it."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import number
from farm.gates.spend.policy import Measure
from farm.gates.table import Row


@dataclass(frozen=True, slots=True)
class Bill:
    """The sum over all attempts of some cells, in this sweep."""

    known: Fraction
    """So much at least."""
    unknown: tuple[str, ...]
    """Cells of which an attempt does not say what it took."""
    uncounted: Fraction
    """The known part of `known` that went to cells without a measurement."""

    @property
    def whole(self) -> Fraction | None:
        """Give the sum; None while a part of it is unknown."""
        return None if self.unknown else self.known

    @property
    def words(self) -> str:
        """Say what of it is no measurement, and what nobody knows."""
        said = [f"{number(self.uncounted):g} of it for cells without a measurement"] if self.uncounted else []
        said += [f"unknown in {len(self.unknown)} cells, {self.unknown[0]} first"] if self.unknown else []
        return "; ".join(said)

    @property
    def record(self) -> JsonValue:
        """Give it as a gate's finding."""
        return {
            "known": number(self.known),
            "unknown_cells": len(self.unknown),
            "without_measurement": number(self.uncounted),
        }


def bill(rows: Iterable[Row], measure: Measure) -> Bill:
    """Add up what all attempts of `rows` took."""
    known, uncounted, unknown = Fraction(0), Fraction(0), list[str]()
    for row in rows:
        of_row = Fraction(row.spent.known_usd if measure is Measure.USD else row.spent.known_tokens)
        known += of_row
        if row.oracle is None:
            uncounted += of_row
        if (row.spent.usd if measure is Measure.USD else row.spent.tokens) is None:
            unknown.append(row.cell)
    return Bill(known, tuple(unknown), uncounted)
