"""The fault matrix's own five gates: whether a governor does what it is built for when the agent's part is scripted.

They say nothing of any model. Two arms run the same scripts, one without a governor and one with it.
"""

from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import number
from farm.gates.reliability.part_summary import Rate
from farm.gates.reliability.policy import Share
from farm.model import Check, Positive
from farm.model.base import Value


class MechanismPolicy(Value):
    """What must hold, all of it."""

    least_trials: Positive = 10
    """Of each fault in each arm."""
    most_false_completion: Share = 0.0
    """Of the governed runs: those that say that they are done when the oracle says no."""
    most_false_certification: Share = 0.0
    least_reduction: Share = 0.8
    """Of the share of false completions without a governor."""
    least_as_expected: Share = 1.0
    """Of each arm's runs: those that end as the fault's script must make them end."""


@dataclass(frozen=True, slots=True)
class MechanismPart:
    """What one arm's runs come to."""

    false_completions: Rate
    as_expected: Rate
    false_certifications: Rate
    """Without a governor there are none."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What the matrix found."""

    checks: tuple[Check, ...]
    reduction: float
    """Of the share of false completions; 0 where there is none to reduce."""

    @property
    def holds(self) -> bool:
        """Say whether every gate is passed."""
        return all(check.holds for check in self.checks)


def rule_on_mechanism(
    baseline: MechanismPart, governed: MechanismPart, trials: int, policy: MechanismPolicy
) -> Mechanism:
    """Ask the five; `trials` are the fewest of any fault in either arm. No run at all passes nothing."""
    before, after = _share(baseline.false_completions), _share(governed.false_completions)
    reduction = (before - after) / before if before else Fraction(0)
    expected = min(_share(baseline.as_expected), _share(governed.as_expected))
    return Mechanism(
        checks=(
            _at_least("trials", policy.least_trials, Fraction(trials)),
            _at_most("false-completion", policy.most_false_completion, after),
            _at_most("false-certification", policy.most_false_certification, _share(governed.false_certifications)),
            _at_least("reduction", policy.least_reduction, reduction),
            _at_least("as-expected", policy.least_as_expected, expected),
        ),
        reduction=float(reduction),
    )


def _share(rate: Rate) -> Fraction:
    return Fraction(rate.count, rate.of) if rate.of else Fraction(0)


def _at_least(name: str, threshold: float, observed: Fraction) -> Check:
    return _check(name, ">=", threshold, number(observed), holds=observed >= _exact(threshold))


def _at_most(name: str, threshold: float, observed: Fraction) -> Check:
    return _check(name, "<=", threshold, number(observed), holds=observed <= _exact(threshold))


def _exact(threshold: float) -> Fraction:
    """Read a threshold as it is written, so that a share that is just on it is on it."""
    return Fraction(repr(threshold))


def _check(name: str, operator: str, threshold: JsonValue, observed: JsonValue, *, holds: bool) -> Check:
    return Check(name=name, subject="matrix", operator=operator, threshold=threshold, observed=observed, holds=holds)
