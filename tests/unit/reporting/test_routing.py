from decimal import Decimal

from farm.model import Task
from farm.reporting.medians import Medians, TaskLine
from farm.reporting.routing import Crossing, LabelLine, crossings, label_lines
from tests.builders.gates import a_task


def labelled(*labels: str | None) -> tuple[Task, ...]:
    """Make tasks t0, t1, … of these labels."""
    return tuple(a_task(f"t{number}").model_copy(update={"label": label}) for number, label in enumerate(labels))


def a_line(task: str, arm: str, correct: int = 3, cost: str | None = "1", judged: int = 3) -> TaskLine:
    return TaskLine(
        task=task,
        arm=arm,
        cells=3,
        measured=3,
        reused=0,
        verified=0,
        verify_passed=0,
        judged=judged,
        correct=correct,
        medians=Medians(cost_usd=None if cost is None else Decimal(cost), duration_s=10.0),
    )


def beaten(one: TaskLine, other: TaskLine) -> dict[str, tuple[str, ...]]:
    return {line.arm: line.beats for line in label_lines(labelled("small"), (one, other))}


def test_a_label_sums_up_its_tasks_and_leaves_out_those_without_one() -> None:
    lines = (a_line("t0", "a", 3), a_line("t1", "a", 2, "2"), a_line("t2", "a", 0, "9"))
    assert label_lines(labelled("small", "small", None), lines) == (
        LabelLine(label="small", arm="a", tasks=2, cells=6, judged=6, correct=5, cost_usd=Decimal(3), duration_s=20.0),
    )


def test_one_task_of_unknown_cost_makes_the_labels_cost_unknown() -> None:
    (line,) = label_lines(labelled("small", "small"), (a_line("t0", "a"), a_line("t1", "a", cost=None)))
    assert line.cost_usd is None


def test_more_right_answers_beat_any_price() -> None:
    assert beaten(a_line("t0", "a", 3, "9"), a_line("t0", "b", 2, "1")) == {"a": ("b",), "b": ()}


def test_as_many_right_answers_are_decided_by_a_twentieth_of_the_cost() -> None:
    assert beaten(a_line("t0", "a", 3, "0.95"), a_line("t0", "b", 3, "1")) == {"a": ("b",), "b": ()}
    assert beaten(a_line("t0", "a", 3, "0.951"), a_line("t0", "b", 3, "1")) == {"a": (), "b": ()}
    assert beaten(a_line("t0", "a", 3, None), a_line("t0", "b", 3, "1")) == {"a": (), "b": ()}


def test_failing_cheaply_beats_nobody() -> None:
    assert beaten(a_line("t0", "a", 0, "0.1"), a_line("t0", "b", 0, "1")) == {"a": (), "b": ()}


def test_an_arm_that_was_not_judged_in_every_cell_neither_beats_nor_is_beaten() -> None:
    assert beaten(a_line("t0", "a", 2, judged=2), a_line("t0", "b", 0)) == {"a": (), "b": ()}


def test_a_crossing_is_where_an_arm_begins_to_beat_another_and_where_it_does_not_later() -> None:
    lines = (
        *(a_line("t0", "plan", cost="9"), a_line("t0", "direct", cost="1")),
        *(a_line("t1", "plan", 3), a_line("t1", "direct", 1)),
        *(a_line("t2", "plan", 2), a_line("t2", "direct", 2)),
    )
    found = crossings(label_lines(labelled("small", "middle", "large"), lines))
    assert found == (
        Crossing(arm="plan", other="direct", label="middle", not_on=("large",)),
        Crossing(arm="direct", other="plan", label="small", not_on=("middle", "large")),
    )
