"""What a rule will say, before it is asked: its power and its false alarms, by playing sweeps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Successes: TypeAlias = NDArray[np.int64]
"""How many of its trials each task solved."""
Rule: TypeAlias = Callable[[Successes, Successes], bool]
"""Says whether the left arm is found better than the right one, from both arms' successes by task."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How likely the right arm is to solve a task: Beta distributed over tasks."""

    alpha: float
    beta: float

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)


@dataclass(frozen=True, slots=True)
class Design:
    """A sweep to play."""

    tasks: int
    trials: int
    difficulty: Difficulty
    shares_difficulty: bool = True
    """Whether a task is as hard for one arm as for the other, but for the effect; if not, each arm draws its own."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How often something came true."""

    estimate: float
    standard_error: float
    """Of the simulation alone."""
    played: int


def chance_of(rule: Rule, design: Design, effect: float, played: int = 2000, seed: int = 0) -> Chance:
    """Play `played` sweeps in which the left arm is better by `effect`, and count how often `rule` says so.

    `effect` is the difference of the mean probabilities, left minus right, from -1 to 1; 0 gives the rule's false
    alarms in that direction. A task's probability p of the right arm becomes p + effect p / m or, for a gain,
    p + effect (1 - p) / (1 - m) on the left, m being the mean: what is lost is a fixed part of what there was, and
    what is gained a fixed part of what was missing, so probabilities stay between 0 and 1. Arms that share no
    difficulty draw from Beta distributions of the same alpha + beta whose means are `effect` apart. Trials are
    independent given the task. The standard error is that of a binomial share. Raises ValueError for an effect that no
    arm can have on top of the right one's mean.
    """
    generator, found = np.random.default_rng(seed), 0
    mean = design.difficulty.mean
    _ensured(effect, mean)
    for _ in range(played):
        right = _drawn(generator, design, mean)
        left = _moved(right, mean, effect) if design.shares_difficulty else _drawn(generator, design, mean + effect)
        found += rule(generator.binomial(design.trials, left), generator.binomial(design.trials, right))
    estimate = found / played
    return Chance(estimate, math.sqrt(estimate * (1 - estimate) / played), played)


class Dice:
    """Draws the answers of one sweep after another, the same from one seed on any machine."""

    def __init__(self, truth: Difficulty, effect: float, seed: int) -> None:
        """Raise ValueError for an effect that no arm can have on top of the truth's mean."""
        self._truth, self._effect = truth, _ensured(effect, truth.mean)
        self._generator = np.random.default_rng(seed)

    def answers(self, tasks: int, cells: Sequence[tuple[int, bool]]) -> list[bool]:
        """Draw new tasks, then each cell's answer; a cell is its task's place, and whether its arm has the effect."""
        base = self._generator.beta(self._truth.alpha, self._truth.beta, size=tasks)
        moved = _moved(base, self._truth.mean, self._effect)
        chances = np.array([(moved if has_effect else base)[task] for task, has_effect in cells])
        return [bool(one) for one in self._generator.random(len(cells)) < chances]


def least_effect(
    rule: Rule, design: Design, effects: Sequence[float], power: float = 0.8, played: int = 2000
) -> float | None:
    """Give the first of `effects`, from small to large, at which `rule` has at least `power`; None when none has."""
    return next((one for one in effects if chance_of(rule, design, one, played).estimate >= power), None)


def _drawn(generator: np.random.Generator, design: Design, mean: float) -> NDArray[np.float64]:
    if mean in {0.0, 1.0}:
        return np.full(design.tasks, mean)
    weight = design.difficulty.alpha + design.difficulty.beta
    return generator.beta(mean * weight, (1 - mean) * weight, size=design.tasks)


def _ensured(effect: float, mean: float) -> float:
    if not -mean <= effect <= 1 - mean:
        raise ValueError(f"an effect of {effect:g} on a mean of {mean:.3g} leaves 0 to 1")
    return effect


def _moved(p: NDArray[np.float64], mean: float, effect: float) -> NDArray[np.float64]:
    return p + effect * (p / mean if effect < 0 else (1 - p) / (1 - mean))
