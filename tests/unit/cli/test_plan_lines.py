from farm.cli.plan import describe
from tests.builders.gates import a_plan


def test_skipped_expensive_tasks_are_named() -> None:
    plan = a_plan(trials=1).model_copy(update={"skipped": ("retry",)})
    assert "skipped retry: it is expensive; --expensive runs it" in describe(plan)
