"""How often a plan's own gate would decide what, before anything is paid: its false alarms, and its power.

Sweeps are played: each task has a probability of being solved, drawn for the incumbents; candidates are better by an
effect; the answers are drawn, tabulated as if they had been measured, and judged by the very gate that the plan pins.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from farm.errors import SpecError
from farm.gates.protocol import Gate, NeedsMetrics, NeedsNumbers
from farm.gates.table import Lifecycle, Row, Table
from farm.model import ArmRole, Cell, CloseReason, Decision, OracleFinding, Pin, Plan, ScopeFinding
from farm.stats.power import Dice, Difficulty

_ENDED_WELL = Lifecycle(close=CloseReason.COMPLETE, cleanup_incomplete=False)
_RIGHT, _WRONG = OracleFinding(correct=True), OracleFinding(correct=False)


@dataclass(frozen=True, slots=True)
class Play:
    """What is played, and how often."""

    truth: Difficulty
    """Over tasks, of the incumbents' probability to solve one; comparators and controls share it."""
    effect: float
    """Of the candidates' mean probability, above it. 0 gives the gate's false alarms."""
    played: int = 500
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Chances:
    """How often a gate decided what, at one effect."""

    effect: float
    shares: Mapping[Decision, float]
    standard_errors: Mapping[Decision, float]
    """Of the simulation alone."""
    played: int


def characteristics(plan: Plan, pin: Pin, gate: Gate, play: Play) -> Chances:
    """Play sweeps of `plan`, every cell measured, and count what `gate` decides of them.

    Trials are independent given the task. Raises SpecError where that can't be played.
    """
    _ensure_played_by_answers(pin, gate)
    try:
        dice = Dice(play.truth, play.effect, play.seed)
    except ValueError as error:
        raise SpecError(f"{error}; choose a smaller one") from error
    blank, cells, counts = [_blank(plan, cell) for cell in plan.cells], _cells(plan), Counter[Decision]()
    for _ in range(play.played):
        answers = dice.answers(len(plan.tasks), cells)
        rows = tuple(
            row.model_copy(update={"oracle": _RIGHT if right else _WRONG})
            for row, right in zip(blank, answers, strict=True)
        )
        table = Table.model_construct(plan=plan, lifecycle=_ENDED_WELL, rows=rows)
        counts[gate.judge(table, pin.options).decision] += 1
    shares = {decision: counts[decision] / play.played for decision in Decision}
    errors = {decision: math.sqrt(share * (1 - share) / play.played) for decision, share in shares.items()}
    return Chances(play.effect, shares, errors, play.played)


def _ensure_played_by_answers(pin: Pin, gate: Gate) -> None:
    needed = gate.needed_metrics(pin.options)[:1] if isinstance(gate, NeedsMetrics) else ()
    if isinstance(gate, NeedsNumbers):
        needed = (gate.needed_number(pin.options),)
    if needed:
        raise SpecError(
            f"gate {pin.name!r} reads the metric {needed[0]!r}, and only right and wrong answers can be played; "
            "use `farm stats` on an earlier sweep's numbers"
        )


def _blank(plan: Plan, cell: Cell) -> Row:
    return Row(
        cell=cell.id,
        task=cell.task,
        arm=cell.arm,
        role=plan.arm_by_name[cell.arm].role,
        trial=cell.trial,
        scope=ScopeFinding(),
        attempts=1,
    )


def _cells(plan: Plan) -> list[tuple[int, bool]]:
    place = {task.id: number for number, task in enumerate(plan.tasks)}
    return [(place[cell.task], plan.arm_by_name[cell.arm].role is ArmRole.CANDIDATE) for cell in plan.cells]
