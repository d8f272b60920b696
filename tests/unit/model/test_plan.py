from farm.model import Plan
from tests.builders.gates import a_plan


def labelled(label: str) -> Plan:
    plan = a_plan(trials=1)
    return plan.model_copy(update={"tasks": tuple(task.model_copy(update={"label": label}) for task in plan.tasks)})


def test_a_tasks_label_is_in_the_plan_and_changes_no_measurement() -> None:
    one, other = labelled("trivial"), labelled("cross-module")
    assert one.digest != other.digest
    assert one.lock(one.cells[0]) == other.lock(other.cells[0])
