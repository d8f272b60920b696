"""What a sweep's cells took, as the table of expected durations that the next one may pin."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from farm.gates.table import Row

_SHARE = 0.9


def expected_durations(rows: Iterable[Row]) -> Mapping[str, Mapping[str, float]]:
    """Give, by task and arm, within how many seconds nine in ten of the measured cells' sessions ended.

    The nearest rank: the smallest measured duration that at least nine in ten do not pass. What was never measured is
    left out.
    """
    measured = defaultdict[str, defaultdict[str, list[float]]](lambda: defaultdict(list))
    for row in rows:
        if row.duration_s:
            measured[row.task][row.arm].append(row.duration_s)
    return {task: {arm: _ninth_tenth(seconds) for arm, seconds in by_arm.items()} for task, by_arm in measured.items()}


def _ninth_tenth(seconds: list[float]) -> float:
    return round(sorted(seconds)[math.ceil(_SHARE * len(seconds)) - 1], 3)
