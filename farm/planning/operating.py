"""How often a plan's own gate would decide what, before anything is paid: its false alarms, and its power.

Sweeps are played: each task has a probability of being solved, drawn for the incumbents, or runs of one metric that lie
about its mean as earlier ones did; candidates are better by an effect; what is drawn is tabulated as if it had been
measured, and judged by the very gate that the plan pins.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from farm.errors import SpecError
from farm.gates.protocol import Gate, NeedsMetrics, NeedsNumbers
from farm.gates.table import Lifecycle, Row, Table
from farm.model import (
    ArmRole,
    Cell,
    CloseReason,
    Decision,
    ExitKind,
    ExitReason,
    Measured,
    OracleFinding,
    Pin,
    Plan,
    ProcessExit,
    ScopeFinding,
    SessionReport,
)
from farm.planning.earlier import Numbers, Truth
from farm.stats.power import Dice, Difficulty
from farm.stats.truth import Shape, drawn

_ENDED_WELL = Lifecycle(close=CloseReason.COMPLETE, cleanup_incomplete=False)
_SESSION = SessionReport(
    name="work",
    exit=ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=0.0),
    reason=ExitReason.SUCCESS,
    final_answer="played",
)
_RIGHT, _WRONG = OracleFinding(correct=True), OracleFinding(correct=False)


@dataclass(frozen=True, slots=True)
class Play:
    """What is played, and how often."""

    truth: Truth
    """Answers: over tasks, of the incumbents' probability to solve one. Numbers: every answer is right. Comparators and
    controls are as the incumbents."""
    effect: float
    """What the candidates gain: on the mean probability, or in the metric's unit. 0 gives the gate's false alarms."""
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
    ensure_playable(pin, gate, play.truth)
    blank, counts = [_blank(plan, cell) for cell in plan.cells], Counter[Decision]()
    for changes in _runs(plan, play):
        rows = tuple(row.model_copy(update=change) for row, change in zip(blank, changes, strict=True))
        table = Table.model_construct(plan=plan, lifecycle=_ENDED_WELL, rows=rows)
        counts[gate.judge(table, pin.options).decision] += 1
    shares = {decision: counts[decision] / play.played for decision in Decision}
    errors = {decision: math.sqrt(share * (1 - share) / play.played) for decision, share in shares.items()}
    return Chances(play.effect, shares, errors, play.played)


def read_by(pin: Pin, gate: Gate) -> tuple[str, ...]:
    """Name the declared metrics that a gate reads; (): it goes by right and wrong answers."""
    return gate.needed_metrics(pin.options) if isinstance(gate, NeedsMetrics) else ()


def ensure_playable(pin: Pin, gate: Gate, truth: Truth) -> None:
    """Raise SpecError where a gate reads what is not played."""
    if isinstance(gate, NeedsNumbers):
        raise SpecError(
            f"gate {pin.name!r} reads the metric {gate.needed_number(pin.options)!r} beside others, and only one "
            "number of a cell can be played; use `farm stats` on an earlier sweep's numbers"
        )
    needed = read_by(pin, gate)
    played = {truth.metric.name} if isinstance(truth, Numbers) else set[str]()
    lacking = next((metric for metric in needed if metric not in played), None)
    if lacking is not None and played:
        raise SpecError(f"gate {pin.name!r} reads several metrics, {lacking!r} among them; only one can be played")
    if lacking is not None:
        raise SpecError(
            f"gate {pin.name!r} reads the metric {lacking!r}, and without an earlier sweep only right and wrong "
            "answers can be played; name one with --prior, whose runs say how the metric varies"
        )


_Change = dict[str, object]
"""What a played cell has beside its blank row."""


def _runs(plan: Plan, play: Play) -> Iterator[list[_Change]]:
    """Draw the cells of one sweep after another."""
    match play.truth:
        case Difficulty():
            return _answers(plan, play, play.truth)
        case Numbers():
            return _numbers(plan, play, play.truth)
        case _:
            assert_never(play.truth)


def _answers(plan: Plan, play: Play, truth: Difficulty) -> Iterator[list[_Change]]:
    try:
        dice = Dice(truth, play.effect, play.seed)
    except ValueError as error:
        raise SpecError(f"{error}; choose a smaller one") from error
    cells = _cells(plan)
    for _ in range(play.played):
        yield [{"oracle": _RIGHT if right else _WRONG} for right in dice.answers(len(plan.tasks), cells)]


def _numbers(plan: Plan, play: Play, truth: Numbers) -> Iterator[list[_Change]]:
    effects = [play.effect if arm.role is ArmRole.CANDIDATE else 0.0 for arm in plan.arms]
    task_of = {task.id: place for place, task in enumerate(plan.tasks)}
    arm_of = {arm.name: place for place, arm in enumerate(plan.arms)}
    cells = [(arm_of[cell.arm], task_of[cell.task], cell.trial - 1) for cell in plan.cells]
    name, shape = truth.metric.name, Shape(1, len(plan.tasks), plan.trials)
    for number in range(play.played):
        gained = drawn(truth.spread, effects, shape, play.seed + number * 2**32)[:, 0].tolist()
        values = [truth.value(task, gained[arm][task][trial]) for arm, task, trial in cells]
        yield [{"oracle": _RIGHT, "metrics": {name: Measured(name=name, value=value)}} for value in values]


def _blank(plan: Plan, cell: Cell) -> Row:
    return Row(
        cell=cell.id,
        task=cell.task,
        arm=cell.arm,
        role=plan.arm_by_name[cell.arm].role,
        trial=cell.trial,
        sessions=(_SESSION,),
        scope=ScopeFinding(),
        duration_s=_SESSION.exit.wall_s,
        attempts=1,
    )


def _cells(plan: Plan) -> list[tuple[int, bool]]:
    place = {task.id: number for number, task in enumerate(plan.tasks)}
    return [(place[cell.task], plan.arm_by_name[cell.arm].role is ArmRole.CANDIDATE) for cell in plan.cells]
