"""The noise floor: what two arms that are the same differ by, which no gain that is to be believed lies below."""

from collections.abc import Iterator

from farm.gates.exact import number
from farm.gates.paired.gains import gains
from farm.gates.paired.policy import CORRECT
from farm.gates.pairs import ArmPair, same_arms
from farm.gates.table import Table
from farm.model import Number
from farm.model.base import Value
from farm.stats.sign_flip import sign_flip


class Noise(Value):
    """One metric of a control against the incumbent that it repeats."""

    pair: ArmPair
    metric: str
    difference: Number | None
    """Mean over tasks, each weighing the same, of what the control has more of what is better; None: unmeasured."""
    largest: Number | None
    """The largest difference of one task, in either direction."""
    p_value: float
    """Of the exact sign flip over tasks: by chance it is as small as this in so many sweeps."""
    tasks: int
    measured: int
    """Pairs of runs of the same task and trial."""
    planned: int


def noise(table: Table, pair: ArmPair, metric: str, seed: int = 0) -> Noise:
    """Compare two arms that are the same."""
    found = gains(table, pair, metric)
    differences = list(found.by_task.values())
    return Noise(
        pair=pair,
        metric=metric,
        difference=None if found.mean is None else number(found.mean),
        largest=number(max(map(abs, differences))) if differences else None,
        p_value=sign_flip(differences, seed).p_value,
        tasks=len(differences),
        measured=found.measured,
        planned=found.planned,
    )


def noises(table: Table) -> Iterator[Noise]:
    """Give the noise of right answers and of every declared metric, for each control of the plan."""
    for pair in same_arms(table.plan):
        for metric in (CORRECT, *(metric.name for metric in table.plan.metrics if metric.name != CORRECT)):
            yield noise(table, pair, metric)
