"""What one part's runs come to. A share of nothing is 0, and its interval the whole of 0 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass

from farm.gates.reliability.trial import Trial
from farm.stats.proportion import Interval, wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    count: int
    of: int

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> Interval:
        """Give Wilson's interval of 95 %."""
        return wilson(self.count, self.of) or Interval(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class PartSummary:
    """The counts of one part; all of its runs are in, whether or not they opened a contract."""

    runs: int
    oracle_passed: int
    false_success: Rate
    """Of all runs."""
    false_exhaustion: Rate
    """Of the runs that the oracle passes."""
    false_abstention: Rate
    terminal_false_rejection: Rate
    false_rejection: Rate
    false_certifications: int
    adoption: Rate
    """Of all runs, those that can't be solved included."""
    fidelity: Rate
    """Of all runs; one without a contract is a miss."""
    right: Rate
    """Behaviour as it should be."""
    operational_failures: int


def summarize(trials: Sequence[Trial]) -> PartSummary:
    """Count."""
    runs, passed = len(trials), sum(trial.oracle_passed for trial in trials)
    return PartSummary(
        runs=runs,
        oracle_passed=passed,
        false_success=Rate(sum(trial.false_success for trial in trials), runs),
        false_exhaustion=Rate(sum(trial.false_exhaustion for trial in trials), passed),
        false_abstention=Rate(sum(trial.false_abstention for trial in trials), passed),
        terminal_false_rejection=Rate(sum(trial.terminal_false_rejection for trial in trials), passed),
        false_rejection=Rate(sum(trial.false_rejection for trial in trials), passed),
        false_certifications=sum(trial.false_certification for trial in trials),
        adoption=Rate(sum(trial.has_contract for trial in trials), runs),
        fidelity=Rate(sum(trial.matches_reference for trial in trials), runs),
        right=Rate(sum(trial.is_right for trial in trials), runs),
        operational_failures=sum(trial.is_operational_failure for trial in trials),
    )
