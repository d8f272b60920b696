"""Rows of one task under one arm, put together in the workflow benchmark's names: counts, medians, claims.

A median is over the valid rows, and there is none where one of them does not say the number: what the others say would
be of another sample. Health is over rows that were measured in this sweep.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from pydantic import Field, JsonValue

from farm.gates.exact import median, number
from farm.gates.promotion.taxonomy import STANDINGS, Health, RowKind
from farm.model import Number, Value
from farm.reporting.rows.fields import Churned, Line, ReviewScore, Spent


class Aggregate(Value):
    """One task under one arm."""

    task: str
    label: str | None = Field(serialization_alias="class")
    arm: str
    runs: int
    valid_runs: int
    excluded_runs: int
    resolved: int
    """Among the valid."""
    resolved_fresh: int
    fresh_attempts: int
    """Rows that were not taken over."""
    admissible: int
    """Among the fresh: those that failed in neither way."""
    execution_failures: int
    evidence_failures: int
    health_reasons: tuple[RowKind, ...]
    """What the fresh failures are."""
    error_kinds: dict[RowKind, int]
    transcripts_missing: int
    medians: dict[str, Number | None]
    """By the rows' own names, a review's with `review_` before them; its blocker_recall is the least."""
    claims: dict[str, bool | None]
    """Of a review: whether each valid row makes it."""

    def document(self) -> dict[str, JsonValue]:
        """Give the aggregate's JSON object: medians and claims stand beside the counts."""
        counts: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True, exclude={"medians", "claims"})
        return {**counts, **self.medians, **self.claims}


def aggregates_of(lines: Iterable[Line]) -> tuple[Aggregate, ...]:
    """Put the rows together, in the order in which their tasks and arms first come."""
    together = defaultdict[tuple[str, str], list[Line]](list)
    for line in lines:
        together[line.identity.task, line.identity.arm].append(line)
    return tuple(map(_aggregate, together.values()))


def _aggregate(lines: Sequence[Line]) -> Aggregate:
    valid = [line for line in lines if line.ours.is_valid]
    fresh = [line for line in lines if not line.provenance.reused]
    failed = [line for line in fresh if _failures(line)]
    kinds = Counter(line.ending.error_kind for line in lines if line.ending.error_kind is not None)
    return Aggregate(
        task=lines[0].identity.task,
        label=lines[0].identity.label,
        arm=lines[0].identity.arm,
        runs=len(lines),
        valid_runs=len(valid),
        excluded_runs=len(lines) - len(valid),
        resolved=sum(line.ending.resolved for line in valid),
        resolved_fresh=sum(line.ending.resolved for line in valid if not line.provenance.reused),
        fresh_attempts=len(fresh),
        admissible=len(fresh) - len(failed),
        execution_failures=sum(Health.EXECUTION_FAILURE in _failures(line) for line in fresh),
        evidence_failures=sum(Health.EVIDENCE_FAILURE in _failures(line) for line in fresh),
        health_reasons=tuple(sorted({kind for line in failed if (kind := line.ending.error_kind) is not None})),
        error_kinds=dict(sorted(kinds.items())),
        transcripts_missing=sum(line.told.transcript_missing is True for line in lines),
        medians=_medians(valid),
        claims={f"review_{name}": _all_make(valid, name) for name in _CLAIMS},
    )


def _failures(line: Line) -> set[Health]:
    """Say in which ways the measuring itself failed: a clean-up may fail after something else did."""
    kinds = {line.ending.error_kind or RowKind.PASSED, line.ours.primary_kind or RowKind.PASSED}
    return {STANDINGS[kind].health for kind in kinds} - {Health.OK, Health.NOT_STARTED}


_CLAIMS = ("verdict_correct", "clean_control", "clean_pass")
_LEAST = "blocker_recall"
_SHARES = tuple(name for name in ReviewScore.model_fields if name not in {*_CLAIMS, _LEAST})


def _medians(valid: Sequence[Line]) -> dict[str, Number | None]:
    spent = {name: _median(valid, _of("spent", name)) for name in Spent.model_fields}
    churned = {name: _median(valid, _of("churned", name)) for name in Churned.model_fields}
    shares = {f"review_{name}": _median(valid, _of("review_score", name)) for name in _SHARES}
    least = _known(valid, _of("review_score", _LEAST))
    return {**spent, **churned, **shares, f"review_{_LEAST}": None if least is None else min(least, default=None)}


def _of(part: str, name: str) -> Callable[[Line], Number | None]:
    """Read a number from a part of a row, which may lack the part."""
    return lambda line: getattr(getattr(line, part), name, None)


def _known(valid: Sequence[Line], read: Callable[[Line], Number | None]) -> list[Number] | None:
    """Read a number of each row; None when one does not say it."""
    said = [read(line) for line in valid]
    known = [one for one in said if one is not None]
    return known if len(known) == len(said) else None


def _median(valid: Sequence[Line], read: Callable[[Line], Number | None]) -> Number | None:
    known = _known(valid, read)
    middle = None if known is None else median([Fraction(str(one)) for one in known])
    return None if middle is None else number(middle)


def _all_make(valid: Sequence[Line], claim: str) -> bool | None:
    made = [None if line.review_score is None else getattr(line.review_score, claim) for line in valid]
    return None if not made or None in made else all(made)
