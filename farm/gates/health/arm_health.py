"""One arm's health: how many of its fresh attempts ended in something that could be judged.

Right and wrong answers are alike here: an arm that is wrong everywhere is measured well.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from farm.gates.promotion.taxonomy import Health, RowKind, failures_of, kind_of
from farm.gates.table import Row


class HealthStatus(StrEnum):
    """How an arm's measuring stands."""

    UNKNOWN = "unknown"
    """Nothing fresh was attempted: what was taken from an earlier sweep says nothing of this one."""
    OBSERVED_OK = "observed-ok"
    DEGRADED = "degraded"
    """Some attempts failed, and enough did not."""
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class ArmHealth:
    """What was seen of one arm."""

    status: HealthStatus
    fresh: int
    """Cells that were attempted in this sweep."""
    reused: int
    admissible: int
    """Fresh cells that failed in neither way."""
    execution_failures: int
    evidence_failures: int
    """A cell that failed in both ways is in both counts, and is taken off the admissible once."""
    kinds: Mapping[RowKind, int]
    """Of the failures."""

    @property
    def words(self) -> str:
        """Say it in one line."""
        seen = f"{self.admissible} of {self.fresh} fresh cells admissible"
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.items())
        return f"{self.status}: {seen}" + (f" ({kinds})" if kinds else "")


def arm_health(rows: Sequence[Row], least_admissible: int = 1) -> ArmHealth:
    """Judge one arm's rows; it is unusable when something failed and fewer than `least_admissible` did not."""
    fresh = [row for row in rows if not row.reused and row.attempts > 0]
    failures = [failures_of(row) for row in fresh]
    failed = [row for row, ways in zip(fresh, failures, strict=True) if ways]
    admissible = len(fresh) - len(failed)
    kinds = Counter(kind_of(row) for row in failed)
    return ArmHealth(
        status=_status(len(fresh), len(failed), is_enough=admissible >= least_admissible),
        fresh=len(fresh),
        reused=sum(row.reused for row in rows),
        admissible=admissible,
        execution_failures=sum(Health.EXECUTION_FAILURE in ways for ways in failures),
        evidence_failures=sum(Health.EVIDENCE_FAILURE in ways for ways in failures),
        kinds=dict(sorted(kinds.items())),
    )


def _status(fresh: int, failed: int, *, is_enough: bool) -> HealthStatus:
    if fresh == 0:
        return HealthStatus.UNKNOWN
    if failed == 0:
        return HealthStatus.OBSERVED_OK
    return HealthStatus.DEGRADED if is_enough else HealthStatus.UNUSABLE
