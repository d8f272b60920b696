"""Which kinds of checks fail, and in which runs they cost a right answer; no cause is claimed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from farm.gates.reliability.trial import Trial


@dataclass(frozen=True, slots=True)
class Checked:
    """One check at one attempt."""

    kind: str
    passed: bool


@dataclass(frozen=True, slots=True)
class GovernedRun:
    """A run and what its contract's checks said, attempt by attempt."""

    trial: Trial
    attempts: Sequence[Sequence[Checked]]


@dataclass(frozen=True, slots=True)
class Attribution:
    """One kind of check over all attempts. Shares of nothing are 0; over the kinds they may sum to more than 1."""

    exposures: int
    failures: int
    failure_rate: float
    unique_failures: int
    """Attempts in which it alone failed."""
    exposed_runs: int
    failed_runs: int
    false_exhaustions: int
    """Runs that ended so and in which it failed at least once."""
    share_of_false_exhaustions: float
    false_abstentions: int
    share_of_false_abstentions: float
    terminal_false_rejections: int
    share_of_terminal_false_rejections: float


def attribute(runs: Iterable[GovernedRun]) -> dict[str, Attribution]:
    """Count by kind of check, in alphabetical order."""
    every = list(runs)
    kinds = sorted({check.kind for run in every for attempt in run.attempts for check in attempt})
    return {kind: _attribution(kind, every) for kind in kinds}


def _attribution(kind: str, runs: Sequence[GovernedRun]) -> Attribution:
    exposed = [run for run in runs if any(check.kind == kind for attempt in run.attempts for check in attempt)]
    failed = [run for run in exposed if any(_fails(kind, attempt) for attempt in run.attempts)]
    checks = [check for run in exposed for attempt in run.attempts for check in attempt if check.kind == kind]
    failures = sum(not check.passed for check in checks)
    exhausted = sum(run.trial.false_exhaustion for run in failed)
    abstained = sum(run.trial.false_abstention for run in failed)
    rejected = sum(run.trial.terminal_false_rejection for run in failed)
    return Attribution(
        exposures=len(checks),
        failures=failures,
        failure_rate=failures / len(checks),
        unique_failures=sum(_fails_alone(kind, attempt) for run in exposed for attempt in run.attempts),
        exposed_runs=len(exposed),
        failed_runs=len(failed),
        false_exhaustions=exhausted,
        share_of_false_exhaustions=_share(exhausted, sum(run.trial.false_exhaustion for run in runs)),
        false_abstentions=abstained,
        share_of_false_abstentions=_share(abstained, sum(run.trial.false_abstention for run in runs)),
        terminal_false_rejections=rejected,
        share_of_terminal_false_rejections=_share(rejected, sum(run.trial.terminal_false_rejection for run in runs)),
    )


def _fails(kind: str, attempt: Sequence[Checked]) -> bool:
    return any(check.kind == kind and not check.passed for check in attempt)


def _fails_alone(kind: str, attempt: Sequence[Checked]) -> bool:
    failed = [check.kind for check in attempt if not check.passed]
    return failed == [kind]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
