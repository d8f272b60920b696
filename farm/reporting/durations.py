"""What sweeps' cells took, as the table of expected durations that the next one may pin."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from farm.gates.table import Table
from farm.model import Expected, model_of


@dataclass(frozen=True, slots=True)
class _Measured:
    """Whose sessions were measured, and at what."""

    task: str
    arm: str
    agent: str
    model: str | None


def expected_durations(tables: Iterable[Table]) -> Mapping[str, Mapping[str, tuple[Expected, ...]]]:
    """Give, by task and arm, within how many seconds the measured cells' sessions ended, for each agent and model.

    The nearest rank: the smallest measured duration that at least half, or nine in ten, do not pass. What was never
    measured, or was measured in another sweep, is left out.
    """
    measured = defaultdict[_Measured, list[float]](list)
    for table in tables:
        arms = table.plan.arm_by_name
        for row in table.rows:
            if row.duration_s and not row.reused:
                arm = arms[row.arm]
                measured[_Measured(row.task, row.arm, arm.agent.name, model_of(arm))].append(row.duration_s)
    found = defaultdict[str, dict[str, tuple[Expected, ...]]](dict)
    for one in sorted(measured, key=lambda one: (one.task, one.arm, one.agent, one.model or "")):
        known = found[one.task].get(one.arm, ())
        found[one.task][one.arm] = (*known, _expected(one, sorted(measured[one])))
    return found


def _expected(whose: _Measured, seconds: Sequence[float]) -> Expected:
    return Expected(
        p50_s=_rank(seconds, 0.5),
        p90_s=_rank(seconds, 0.9),
        n=len(seconds),
        agent=whose.agent,
        model=whose.model,
    )


def _rank(seconds: Sequence[float], share: float) -> float:
    return round(seconds[math.ceil(share * len(seconds)) - 1], 3)
