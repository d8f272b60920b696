"""The routing table: for each label of tasks, which arm answers best, and from where on one beats another.

An arm beats another on a label when both were judged in every cell that the plan has of it, and it is right more
often; or as often, at least once, and its cells cost at least a twentieth less. It describes this sweep, and decides
nothing.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from farm.model import Task, known_sum
from farm.model.base import Value
from farm.reporting.medians import TaskLine

_CHEAPER = Decimal("0.95")


class LabelLine(Value):
    """One arm on all tasks of one label."""

    label: str
    arm: str
    tasks: int
    cells: int
    judged: int
    correct: int
    cost_usd: Decimal | None
    """What one trial of each of the tasks costs, by their medians; None: not known of all."""
    duration_s: float | None
    """The same for the time."""
    beats: tuple[str, ...] = ()


class Crossing(Value):
    """Where along the labels an arm begins to beat another."""

    arm: str
    other: str
    label: str
    """The first one, in the order in which the tasks name them."""
    not_on: tuple[str, ...]
    """Later labels on which it does not."""


def label_lines(tasks: Sequence[Task], lines: Sequence[TaskLine]) -> tuple[LabelLine, ...]:
    """Sum up each arm over the tasks of each label; tasks without one are left out."""
    labels = {task.id: task.label for task in tasks if task.label is not None}
    found: dict[str, dict[str, list[TaskLine]]] = {label: {} for label in labels.values()}
    for line in lines:
        if line.task in labels:
            found[labels[line.task]].setdefault(line.arm, []).append(line)
    return tuple(line for label, by_arm in found.items() for line in _of_label(label, by_arm))


def crossings(lines: Sequence[LabelLine]) -> tuple[Crossing, ...]:
    """Say of each arm that beats another somewhere from which label on it does."""
    labels = tuple(dict.fromkeys(line.label for line in lines))
    won = {(line.arm, other, line.label) for line in lines for other in line.beats}
    arms = tuple(dict.fromkeys(line.arm for line in lines))
    found = []
    for arm in arms:
        for other in arms:
            on = [label for label in labels if (arm, other, label) in won]
            if on:
                later = labels[labels.index(on[0]) :]
                not_on = tuple(label for label in later if label not in on)
                found.append(Crossing(arm=arm, other=other, label=on[0], not_on=not_on))
    return tuple(found)


def _of_label(label: str, by_arm: Mapping[str, Sequence[TaskLine]]) -> list[LabelLine]:
    lines = [_line(label, arm, of) for arm, of in by_arm.items()]
    return [
        line.model_copy(update={"beats": tuple(other.arm for other in lines if _beats(line, other))}) for line in lines
    ]


def _line(label: str, arm: str, lines: Sequence[TaskLine]) -> LabelLine:
    durations = [line.medians.duration_s for line in lines if line.medians.duration_s is not None]
    return LabelLine(
        label=label,
        arm=arm,
        tasks=len(lines),
        cells=sum(line.cells for line in lines),
        judged=sum(line.judged for line in lines),
        correct=sum(line.correct for line in lines),
        cost_usd=known_sum(line.medians.cost_usd for line in lines),
        duration_s=sum(durations) if len(durations) == len(lines) else None,
    )


def _beats(one: LabelLine, other: LabelLine) -> bool:
    if one.judged < one.cells or other.judged < other.cells or one.cells != other.cells:
        return False
    if one.correct != other.correct:
        return one.correct > other.correct
    if one.cost_usd is None or other.cost_usd is None:
        return False
    return one.correct > 0 and one.cost_usd <= other.cost_usd * _CHEAPER
