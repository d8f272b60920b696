from collections.abc import Callable
from decimal import Decimal

import pytest

from farm.model import (
    Arm,
    BreakerPolicy,
    CellOrder,
    Pin,
    Plan,
    RetryPolicy,
    SweepBudget,
    SweepLock,
    canonical_json,
    differences,
    fixed_by,
)
from tests.builders.gates import OFF, ON, a_digest, a_plan
from tests.builders.locks import a_lock, a_subject

PLAN = a_plan(tasks=("answer", "other"), gates=(Pin(name="paired", version="1", options={"alpha": 0.05}),))


def changed(**fields: object) -> Plan:
    return PLAN.model_copy(update=fields)


def with_task(**fields: object) -> Plan:
    return changed(tasks=(PLAN.tasks[0].model_copy(update=fields), PLAN.tasks[1]))


def with_arm(**fields: object) -> Plan:
    first, second = PLAN.arms
    return changed(arms=(first, second.model_copy(update=fields)))


def without_a_task() -> Plan:
    return changed(tasks=PLAN.tasks[:1])


def with_another_arm() -> Plan:
    more = Arm.model_validate(PLAN.arms[0].model_dump() | {"name": "third"})
    return changed(arms=(*PLAN.arms, more))


CHANGES: dict[str, Callable[[], Plan]] = {
    "tasks.answer": lambda: with_task(prompt=a_digest("another prompt")),
    "oracles.answer": lambda: with_task(oracle=PLAN.tasks[0].oracle.model_copy(update={"options": {"equals": 1}})),
    f"arms.{ON}": lambda: with_arm(agent=Pin(name="scripted", version="2")),
    "gates.paired.options.alpha": lambda: changed(gates=(Pin(name="paired", version="1", options={"alpha": 0.1}),)),
    "gates.paired.version": lambda: changed(gates=(Pin(name="paired", version="2", options={"alpha": 0.05}),)),
    "trials": lambda: changed(trials=11),
    "stopping.breaker.streak": lambda: changed(breaker=BreakerPolicy(streak=0)),
    "stopping.retry.most_attempts": lambda: changed(retry=RetryPolicy(most_attempts=1)),
    "stopping.deadline_s": lambda: changed(deadline_s=60.0),
    "stopping.budget": lambda: changed(budget=SweepBudget(cost_usd=Decimal(5))),
    "conditions.prices": lambda: changed(prices=a_digest("prices")),
    "conditions.sandbox": lambda: changed(sandbox="docker"),
    "conditions.order": lambda: changed(order=CellOrder.TASK_MAJOR),
    "conditions.metrics": lambda: changed(metrics=()),
    "conditions.name": lambda: changed(name="another"),
}


def test_nothing_differs_from_itself() -> None:
    assert differences(a_subject(PLAN), a_subject(PLAN)) == ()


@pytest.mark.parametrize("place", CHANGES)
def test_a_change_of_the_plan_is_named_by_its_place(place: str) -> None:
    found = differences(fixed_by(PLAN), fixed_by(CHANGES[place]()))
    assert found
    assert all(one.startswith(place) for one in found)


@pytest.mark.parametrize("field", ["runner", "analysis", "presets"])
def test_edited_code_of_ours_is_named(field: str) -> None:
    subject = a_subject(PLAN)
    code = subject.code.model_copy(update={field: a_digest("edited")})
    (found,) = differences(subject, subject.model_copy(update={"code": code}))
    assert found == f"code.{field}: locked {a_digest(field)[:12]}, found {a_digest('edited')[:12]}"


def test_an_edited_sweep_file_is_named() -> None:
    subject = a_subject(PLAN)
    (found,) = differences(subject, subject.model_copy(update={"spec": a_digest("edited")}))
    assert found.startswith("spec: locked ")


def test_what_is_gone_and_what_is_new_are_named() -> None:
    gone = differences(fixed_by(PLAN), fixed_by(without_a_task()))
    assert [one.partition(":")[0] for one in gone] == ["oracles.other", "tasks.other"]
    assert all(one.endswith("found nothing") for one in gone)
    (new,) = differences(fixed_by(PLAN), fixed_by(with_another_arm()))
    assert new.startswith("arms.third: locked nothing, found ")


def test_every_difference_is_named_not_the_first_alone() -> None:
    plan = changed(trials=3, sandbox="docker")
    assert [one.partition(":")[0] for one in differences(fixed_by(PLAN), fixed_by(plan))] == [
        "conditions.sandbox",
        "trials",
    ]


def test_what_the_plan_says_of_its_lock_is_no_part_of_the_lock() -> None:
    assert {OFF, ON} == fixed_by(PLAN).arms.keys()
    assert "preregistration" not in fixed_by(PLAN).conditions


def test_a_lock_is_read_back_with_the_same_digest() -> None:
    lock = a_lock(PLAN)
    assert SweepLock.model_validate_json(canonical_json(lock)).digest == lock.digest
