"""The gate: the share of each arm's planned cells, and of each task's, that a judgement may rest on."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.completeness.policy import CompletenessPolicy, read_policy
from farm.gates.exact import number
from farm.gates.protocol import Judgement
from farm.gates.table import Row, Table
from farm.model import Check, Decision

MOST_NAMED = 1000
"""Cells in the findings; the counts are of all."""
_MOST_TOLD = 5


class CompletenessGate:
    """Passes when enough of every arm, and of every task under it, was measured; else it fails.

    A cell is measured when its oracle said right or wrong, and every metric asked for has a number within its bounds.
    A wrong answer is as good as a right one. What is planned is the denominator, whatever ended the sweep: the gate
    lacks nothing to judge by, so it is inconclusive only where the plan declares no metric of a name that is asked for.
    """

    name = "completeness"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options).model_dump(mode="json")

    def needed_metrics(self, policy: dict[str, JsonValue]) -> tuple[str, ...]:
        """Name the metrics that a cell must have, for planning to look for."""
        return CompletenessPolicy.model_validate(policy).metrics

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Count what was measured of each arm and of each task."""
        rules = CompletenessPolicy.model_validate(policy)
        declared = {metric.name for metric in table.plan.metrics}
        unknown = next((metric for metric in rules.metrics if metric not in declared), None)
        if unknown is not None:
            summary = f"Nothing to judge: the plan declares no metric {unknown!r}."
            return Judgement(decision=Decision.INCONCLUSIVE, summary=summary, checks=())
        missing = {row.cell: why for row in table.rows if (why := _why_missing(row, rules)) is not None}
        arms = [_counted(arm.name, table.rows, missing) for arm in table.plan.arms]
        checks = tuple(check for arm in arms for check in _checks(arm, rules))
        is_whole = all(check.holds for check in checks)
        return Judgement(
            decision=Decision.PASS if is_whole else Decision.FAIL,
            summary=_summary(len(table.rows), missing, checks),
            checks=checks,
            findings={
                "planned": len(table.rows),
                "missing": len(missing),
                "reasons": dict(sorted(Counter(missing.values()).items())),
                "cells": dict(list(missing.items())[:MOST_NAMED]),
            },
        )


@dataclass(frozen=True, slots=True)
class _Task:
    """One task's cells under one arm."""

    name: str
    planned: int
    measured: int

    @property
    def share(self) -> Fraction:
        return Fraction(self.measured, self.planned)


@dataclass(frozen=True, slots=True)
class _Arm:
    name: str
    tasks: tuple[_Task, ...]
    """In the plan's order, those of which the arm has cells."""

    @property
    def planned(self) -> int:
        return sum(task.planned for task in self.tasks)

    @property
    def measured(self) -> int:
        return sum(task.measured for task in self.tasks)


def _why_missing(row: Row, rules: CompletenessPolicy) -> str | None:
    """Say in a word why a row is not measured; None: it is."""
    if row.unsettled is not None:
        return row.unsettled.value
    if row.fault is not None:
        return f"{row.fault.kind} fault"
    if row.oracle is None or row.oracle.correct is None:
        return "not judged"
    for metric in rules.metrics:
        measured = row.metrics.get(metric)
        if measured is None or measured.value is None or measured.problem is not None:
            return f"no {metric}"
    return None


def _counted(arm: str, rows: Sequence[Row], missing: dict[str, str]) -> _Arm:
    planned, measured = Counter[str](), Counter[str]()
    for row in rows:
        if row.arm == arm:
            planned[row.task] += 1
            measured[row.task] += row.cell not in missing
    return _Arm(arm, tuple(_Task(task, count, measured[task]) for task, count in planned.items()))


def _checks(arm: _Arm, rules: CompletenessPolicy) -> Iterator[Check]:
    if not arm.tasks:
        return
    share = Fraction(arm.measured, arm.planned)
    yield Check(
        name="measured-of-arm",
        subject=arm.name,
        operator=">=",
        threshold=rules.of_arm,
        observed=number(share),
        holds=share >= Fraction(repr(rules.of_arm)),
        note=f"{arm.measured} of {arm.planned} planned cells",
    )
    least = min(task.share for task in arm.tasks)
    below = [task for task in arm.tasks if task.share < Fraction(repr(rules.of_task))]
    yield Check(
        name="measured-of-each-task",
        subject=arm.name,
        operator=">=",
        threshold=rules.of_task,
        observed=number(least),
        holds=not below,
        note=_told([f"{task.name} {task.measured} of {task.planned}" for task in below]),
    )


def _summary(planned: int, missing: dict[str, str], checks: Sequence[Check]) -> str:
    if not missing:
        return f"All {planned} planned cells were measured."
    short = list(dict.fromkeys(check.subject for check in checks if not check.holds))
    words = f"{planned - len(missing)} of {planned} planned cells were measured; missing: {_told(list(missing))}."
    return words + (f" Too few of {', '.join(short)}." if short else "")


def _told(names: Sequence[str]) -> str:
    more = len(names) - _MOST_TOLD
    return ", ".join(names[:_MOST_TOLD]) + (f" and {more} more" if more > 0 else "")
