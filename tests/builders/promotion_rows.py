"""Rows of a candidate and its incumbent, and what the promotion gate says of them."""

from collections.abc import Callable, Iterable
from typing import Any

from farm.gates.promotion import PromotionGate
from farm.gates.protocol import Judgement
from farm.gates.table import Lifecycle, Row
from farm.model import (
    Arm,
    Check,
    OracleSpec,
    Plan,
)
from tests.builders.gates import ENDED_WELL, OFF, ON, At, a_plan, a_table
from tests.builders.promotion import a_review, an_implementation

TASKS = ("one", "two", "three")


Made = Callable[[At], Row]


def the_plan(tasks: tuple[str, ...] = TASKS, oracle: str = "command", arms: tuple[Arm, ...] | None = None) -> Plan:
    plan = a_plan(tasks, trials=3)
    made = tuple(task.model_copy(update={"oracle": OracleSpec(kind=oracle)}) for task in plan.tasks)
    return Plan.model_validate(plan.model_dump() | {"tasks": made, "arms": arms or plan.arms})


def each(made: Made, tasks: Iterable[str] = TASKS, arm: str = ON) -> list[Row]:
    return [made(At(arm, trial, task)) for task in tasks for trial in (1, 2, 3)]


def costing(cost: str | None, **changes: Any) -> Made:
    return lambda at: an_implementation(at, cost=cost, **changes)


def judged(
    on: list[Row], off: list[Row], lifecycle: Lifecycle = ENDED_WELL, plan: Plan | None = None, **options: Any
) -> Judgement:
    gate, plan = PromotionGate(), plan or the_plan()
    return gate.judge(a_table((*on, *off), plan, lifecycle), gate.policy(options, TASKS))


def decided(found: Judgement) -> Any:
    """Give the one pair's decision as its record has it."""
    (one,) = found.findings["decisions"]  # type: ignore[misc] (JSON)
    return one


def ruled(found: Judgement) -> Any:
    (one,) = found.findings["rulings"]  # type: ignore[misc] (JSON)
    return one


def check_of(found: Judgement, name: str, task: str | None = None) -> Check:
    return next(one for one in found.checks if one.name == name and (task is None or one.subject.startswith(task)))


CHEAP, DEAR = each(costing("0.95"), arm=ON), each(costing("1.00"), arm=OFF)


def named(arm: Arm, model: str) -> Arm:
    return arm.model_copy(update={"agent": arm.agent.model_copy(update={"options": {"model": model}})})


def reviewed(*tasks: tuple[str, dict[str, Any], dict[str, Any]]) -> Judgement:
    """Judge cases of which each has the numbers of the candidate's reviews and of the incumbent's."""
    plan = the_plan(tuple(task for task, _, _ in tasks), oracle="review")
    rows = {
        arm: [
            row for task, *both in tasks for row in each(lambda at, own=both[which]: a_review(at, **own), (task,), arm)
        ]
        for which, arm in enumerate((ON, OFF))
    }
    return judged(rows[ON], rows[OFF], plan=plan, work="review")


CLEAN = ("clean", {"clean": True}, {"clean": True})


def told(found: Judgement) -> list[str]:
    return [f"{one.name}: {one.observed} {one.operator} {one.threshold}" for one in found.checks]
