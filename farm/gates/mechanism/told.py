"""What the gate tells of each fault in each arm."""

from collections.abc import Sequence

from farm.gates.mechanism.policy import Expected
from farm.gates.mechanism.runs import ScriptedRun
from farm.model import Digest, Terminal
from farm.model.base import Value


class Told(Value):
    """One fault's runs in one arm. Of numbers that are the same in all runs there is one, else each that occurs."""

    expected: Expected
    runs: int
    as_expected: int
    oracle_passed: int
    claimed: int
    false_completions: int
    false_certifications: int
    terminals: dict[Terminal, int]
    replies: tuple[int | None, ...]
    """Of the model, in a run."""
    attempts: tuple[int, ...]
    """At a contract, in a run."""
    trajectories: tuple[Digest, ...]
    """One: all runs went the same way."""


class FaultTold(Value):
    """One fault."""

    baseline: Told
    governed: Told


class MatrixTold(Value):
    """The findings."""

    faults: dict[str, FaultTold]
    reduction: float
    """Of the share of false completions."""
    unexpected: dict[str, tuple[str, ...]]
    """By cell, in what it is not as expected; of the first ones."""


def tell(runs: Sequence[ScriptedRun], expected: Expected, as_expected: int) -> Told:
    """Count."""
    return Told(
        expected=expected,
        runs=len(runs),
        as_expected=as_expected,
        oracle_passed=sum(run.oracle_passed for run in runs),
        claimed=sum(run.governed.claims_success for run in runs),
        false_completions=sum(run.completes_falsely for run in runs),
        false_certifications=sum(run.certifies_falsely for run in runs),
        terminals={
            terminal: count
            for terminal in Terminal
            if (count := sum(run.governed.terminal is terminal for run in runs))
        },
        replies=tuple(dict.fromkeys(run.replies for run in runs)),
        attempts=tuple(dict.fromkeys(len(run.governed.attempts) for run in runs)),
        trajectories=tuple(dict.fromkeys(run.trajectory for run in runs)),
    )
