"""What earlier sweeps say of a plan's tasks, to play it by: how often solved, and how far apart their runs lie."""

from dataclasses import dataclass
from typing import TypeAlias

from farm.errors import SpecError
from farm.gates.paired.gains import number_of
from farm.gates.paired.policy import CORRECT
from farm.gates.table import Row
from farm.model import ArmRole, Direction, Metric, Plan
from farm.stats.power import Difficulty
from farm.stats.truth import Spread, fitted_answers, seen_spread


@dataclass(frozen=True, slots=True)
class Numbers:
    """One metric's runs: about its task's mean under the incumbents, as far from it as earlier ones were."""

    metric: Metric
    means: tuple[float, ...]
    """By task of the plan; of a task that nobody measured, the mean of the others."""
    spread: Spread

    @property
    def mean(self) -> float:
        return sum(self.means) / len(self.means)

    def value(self, task: int, gained: float) -> float:
        """Give a run that lies so much on the better side of its task's mean, within the metric's bounds."""
        value = self.means[task] + (gained if self.metric.direction is Direction.HIGHER else -gained)
        low, high = self.metric.minimum, self.metric.maximum
        value = value if low is None else max(value, float(low))
        return value if high is None else min(value, float(high))


Truth: TypeAlias = Difficulty | Numbers
"""What is played: right answers, or the runs of one metric."""


def default_effects(truth: Truth) -> tuple[float, ...]:
    """Choose effects to play: parts of all answers, or of the metric's mean."""
    whole = abs(truth.mean) if isinstance(truth, Numbers) else 1.0
    return tuple(part * whole for part in (0.0, 0.05, 0.1, 0.2, 0.3))


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier sweeps measured of a plan's tasks under its arms; nothing where none is named."""

    plan: Plan
    rows: tuple[Row, ...]

    def difficulty(self, solves: float | None, said: Difficulty) -> Difficulty:
        """Fit how hard tasks are to the incumbents' answers; what a person said goes before it."""
        if solves is not None or not self.rows:
            return said
        judged = [of for of in self._by_task(CORRECT, self._incumbents) if of]
        if not judged:
            raise SpecError(
                "the earlier sweeps hold no judged answer of an incumbent of this one; say --solves instead"
            )
        found = fitted_answers([round(sum(of)) for of in judged], [len(of) for of in judged])
        return Difficulty(found.alpha, found.beta)

    def numbers(self, *metrics: str) -> Numbers | None:
        """Take the first metric's means and noise from the plan's own arms; None where there is nothing to take.

        Raises SpecError where earlier sweeps are named that do not say them.
        """
        metric = next((one for one in self.plan.metrics if one.name in metrics[:1]), None)
        if metric is None or not self.rows:
            return None
        theirs = self._by_task(metric.name, self._incumbents)
        known = [sum(of) / len(of) for of in theirs if of]
        if not known:
            raise SpecError(f"the earlier sweeps hold no {metric.name!r} of an incumbent of this one; name others")
        by_arm = {arm.name: self._by_task(metric.name, {arm.name}) for arm in self.plan.arms}
        spread = seen_spread([{arm: of[place] for arm, of in by_arm.items()} for place in range(len(theirs))])
        if spread is None:
            raise SpecError(f"no task has two runs of one arm there: nothing is known of how {metric.name!r} varies")
        overall = sum(known) / len(known)
        return Numbers(metric, tuple(sum(of) / len(of) if of else overall for of in theirs), spread)

    @property
    def _incumbents(self) -> set[str]:
        return {arm.name for arm in self.plan.arms if arm.role is ArmRole.INCUMBENT}

    def _by_task(self, metric: str, arms: set[str]) -> list[list[float]]:
        found: dict[str, list[float]] = {task.id: [] for task in self.plan.tasks}
        for row in self.rows:
            value = number_of(row, metric) if row.arm in arms and row.task in found else None
            if value is not None:
                found[row.task].append(float(value))
        return list(found.values())
