"""Rows of one task under one arm, put together in the workflow benchmark's names: counts, medians, claims.

A median is over the valid rows, and there is none where one of them does not say the number: what the others say would
be of another sample. It is the double nearest to the exact one. Health is over rows that were measured in this sweep.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, StrictBool

from farm.gates.exact import number
from farm.gates.promotion.taxonomy import STANDINGS, Health, RowKind, failures_of, kind_of
from farm.gates.table import Row
from farm.model import Number, SessionReport, Task, TokenUse, known_sum
from farm.model.base import Value

REVIEW = "review"
"""The kind of oracle that scores one."""

Count = Annotated[int, Field(strict=True, ge=0)]
Measure = Annotated[Number, Field(ge=0)] | None
"""None: not every valid row says it."""
Claim = StrictBool | None
"""Whether each valid row makes it; None: one of them does not say."""


class Aggregate(Value):
    """One task under one arm."""

    model_config = ConfigDict(populate_by_name=True)

    label: str | None = Field(default=None, alias="class")
    runs: Count
    valid_runs: Count
    excluded_runs: Count
    resolved: Count
    """Among the valid."""
    resolved_fresh: Count
    fresh_attempts: Count
    """Rows that were not taken over."""
    admissible: Count
    """Among the fresh: those that failed in neither way."""
    execution_failures: Count
    evidence_failures: Count
    health_reasons: tuple[str, ...]
    """What the fresh failures are."""
    error_kinds: dict[str, Count]
    transcripts_missing: Count | None = None
    """None: nobody looked."""

    input_tokens: Measure = None
    """Neither read from a cache nor written to one."""
    cache_creation_input_tokens: Measure = None
    cache_read_input_tokens: Measure = None
    output_tokens: Measure = None
    cost_usd: Measure = None
    duration_s: Measure = None
    num_turns: Measure = None
    diff_files: Measure = None
    diff_insertions: Measure = None
    diff_deletions: Measure = None

    review_true_positives: Measure = None
    review_false_positives: Measure = None
    review_false_negatives: Measure = None
    review_precision: Measure = None
    review_recall: Measure = None
    review_f1: Measure = None
    review_expected_weight: Measure = None
    review_matched_weight: Measure = None
    review_false_positive_weight: Measure = None
    review_weighted_precision: Measure = None
    review_weighted_recall: Measure = None
    review_weighted_f1: Measure = None
    review_severity_accuracy: Measure = None
    review_category_accuracy: Measure = None
    review_grounded_evidence: Measure = None
    review_blocker_recall: Measure = None
    """The least, and no median."""
    review_verdict_correct: Claim = None
    review_clean_control: Claim = None
    review_clean_pass: Claim = None

    @property
    def skill_not_invoked(self) -> int:
        """Count the runs that did not use the skill that they had to."""
        return self.error_kinds.get(RowKind.SKILL_NOT_INVOKED, 0)


def aggregate(rows: Sequence[Row], task: Task, transcripts_missing: int | None = None) -> Aggregate:
    """Put the rows of `task` under one arm together."""
    kinds = [kind_of(row) for row in rows]
    kinded = list(zip(rows, kinds, strict=True))
    valid = [row for row, kind in kinded if STANDINGS[kind].is_valid]
    resolved = [row for row, kind in kinded if kind is RowKind.PASSED]
    fresh = sum(not row.reused for row in rows)
    amiss = [(kind, failures_of(row)) for row, kind in kinded if kind is not RowKind.PASSED and not row.reused]
    failed = [kind for kind, ways in amiss if ways]
    reviews = _reviewed(valid) if task.oracle.kind == REVIEW else {}
    return Aggregate(
        label=task.label,
        runs=len(rows),
        valid_runs=len(valid),
        excluded_runs=len(rows) - len(valid),
        resolved=len(resolved),
        resolved_fresh=sum(not row.reused for row in resolved),
        fresh_attempts=fresh,
        admissible=fresh - len(failed),
        execution_failures=sum(Health.EXECUTION_FAILURE in ways for _, ways in amiss),
        evidence_failures=sum(Health.EVIDENCE_FAILURE in ways for _, ways in amiss),
        health_reasons=tuple(sorted({kind.value for kind in failed})),
        error_kinds={kind.value: count for kind, count in sorted(Counter(kinds).items()) if kind is not RowKind.PASSED},
        transcripts_missing=transcripts_missing,
        **_spent(valid),
        **reviews,
    )


def tokens_of(session: SessionReport) -> TokenUse:
    """Give a session's tokens: the door's where there is one, else as the agent itself counts."""
    if session.door is not None:
        return session.door.tokens
    usage = session.usage
    if usage is None:
        return TokenUse()
    return TokenUse(
        ordinary_input=usage.input_tokens,
        cache_write=usage.cache_write_tokens,
        cache_read=usage.cached_input_tokens,
        output=usage.output_tokens,
    )


Exact = int | float | Decimal
T = TypeVar("T")


def _churned(name: str) -> Callable[[Row], Exact | None]:
    return lambda row: None if row.churn is None else getattr(row.churn, name)


_SPENT: Mapping[str, Callable[[Row], Exact | None]] = MappingProxyType(
    {
        "cost_usd": lambda row: row.cost_usd,
        "duration_s": lambda row: row.duration_s,
        "num_turns": lambda row: known_sum(one.turns for one in row.sessions),
        "diff_files": _churned("files"),
        "diff_insertions": _churned("added_lines"),
        "diff_deletions": _churned("removed_lines"),
    }
)
_TOKENS = MappingProxyType(
    {
        "input_tokens": "ordinary_input",
        "cache_creation_input_tokens": "cache_write",
        "cache_read_input_tokens": "cache_read",
        "output_tokens": "output",
    }
)
"""The benchmark's names against ours."""


def _spent(valid: Sequence[Row]) -> dict[str, Number | None]:
    uses = [[tokens_of(session) for session in row.sessions] for row in valid]
    return {
        **{
            name: _median([known_sum(getattr(use, ours) for use in of) for of in uses])
            for name, ours in _TOKENS.items()
        },
        **{name: _median([read(row) for row in valid]) for name, read in _SPENT.items()},
    }


_CLAIMS = ("verdict_correct", "clean_control", "clean_pass")
_LEAST = "blocker_recall"
_SCORES = tuple(
    name.removeprefix("review_")
    for name in Aggregate.model_fields
    if name.startswith("review_") and name.removeprefix("review_") not in {*_CLAIMS, _LEAST}
)


def _reviewed(valid: Sequence[Row]) -> dict[str, Number | bool | None]:
    scores = [row.oracle.numbers if row.oracle is not None else {} for row in valid]
    least = _known([score.get(_LEAST) for score in scores])
    claims = {name: _known([score.get(name) for score in scores]) for name in _CLAIMS}
    return {
        **{f"review_{name}": _median([score.get(name) for score in scores]) for name in _SCORES},
        f"review_{_LEAST}": min(least) if least else None,
        **{f"review_{name}": all(said) if said else None for name, said in claims.items()},
    }


def _known(said: Sequence[T | None]) -> list[T] | None:
    """Give the numbers; None when a row does not say its own."""
    known = [one for one in said if one is not None]
    return known if len(known) == len(said) else None


def _median(said: Sequence[Exact | None]) -> Number | None:
    """Give the middle, or the mean of the two middle numbers, read as the decimals that they are written as."""
    known: list[Exact] | None = _known(said)
    if not known:
        return None
    ranked, half = sorted(known), len(known) // 2
    middle = ranked[half : half + 1] if len(ranked) % 2 else ranked[half - 1 : half + 1]
    return number(sum((Fraction(str(one)) for one in middle), Fraction(0)) / len(middle))
