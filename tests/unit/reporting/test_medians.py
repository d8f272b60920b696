from decimal import Decimal

import pytest

from farm.gates.table import Row
from farm.model import CheckRun, Churn, Fault, FaultKind, OracleFinding, Usage
from farm.reporting.medians import Medians, TaskLine, task_lines
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_session, a_table, an_exit


def a_told_row(trial: int, tokens: int | None = 100, cost: str | None = "0.10", **changes) -> Row:
    """Tell everything: `tokens` read, a tenth of it written."""
    read = None if tokens is None else tokens
    written = None if tokens is None else tokens // 10
    usage = Usage(input_tokens=read, cached_input_tokens=7, cache_write_tokens=3, output_tokens=written)
    fields = {
        "sessions": (a_session(usage=usage, turns=trial),),
        "cost_usd": None if cost is None else Decimal(cost),
        "duration_s": 10.0 * trial,
        "churn": Churn(files=trial, added_lines=5 * trial, removed_lines=0, binary_files=0),
        "verify": CheckRun(exit=an_exit()),
    }
    return a_row(At(ON, trial), **(fields | changes))


def line_of(*rows: Row) -> TaskLine:
    (line,) = (line for line in task_lines(a_table(rows, a_plan(trials=len(rows)))) if line.arm == ON)
    return line


def test_the_visible_check_and_the_hidden_one_are_counted_apart() -> None:
    wrong = OracleFinding(correct=False)
    line = line_of(
        a_told_row(1, oracle=wrong),
        a_told_row(2, verify=CheckRun(exit=an_exit(code=1))),
        a_told_row(3, oracle=OracleFinding(correct=None)),
    )
    assert (line.verify_passed, line.verified) == (2, 3)
    assert (line.correct, line.judged) == (1, 2)


def test_medians_are_over_the_measured_cells() -> None:
    fault = Fault(kind=FaultKind.HOST, detail="disk full")
    line = line_of(a_told_row(1), a_told_row(2, tokens=300, cost="0.30"), a_told_row(3, fault=fault))
    assert (line.cells, line.measured) == (3, 2)
    assert line.medians == Medians(
        tokens=220,
        input_tokens=200,
        cached_input_tokens=7,
        cache_write_tokens=3,
        output_tokens=20,
        cost_usd=Decimal("0.20"),
        duration_s=15.0,
        turns=1.5,
        files=1.5,
        added_lines=7.5,
        removed_lines=0,
    )


def test_one_measured_cell_of_unknown_cost_makes_the_cost_unknown_and_nothing_else() -> None:
    medians = line_of(a_told_row(1), a_told_row(2, cost=None), a_told_row(3)).medians
    assert medians.cost_usd is None
    assert (medians.tokens, medians.turns) == (110, 2)


def test_a_cost_of_nothing_is_a_cost() -> None:
    assert line_of(a_told_row(1, cost="0")).medians.cost_usd == Decimal(0)


def test_tokens_of_which_one_part_is_unknown_are_unknown() -> None:
    medians = line_of(a_told_row(1, sessions=(a_session(usage=Usage(input_tokens=5)),))).medians
    assert (medians.tokens, medians.input_tokens, medians.output_tokens) == (None, 5, None)


def test_a_task_without_a_measurement_has_no_medians() -> None:
    fault = Fault(kind=FaultKind.LOST, detail="gone")
    assert line_of(a_told_row(1, fault=fault)).medians == Medians()


def test_a_faulted_cells_visible_check_counts_for_nothing() -> None:
    fault = Fault(kind=FaultKind.EVIDENCE, detail="the stream ends in the middle")
    assert line_of(a_told_row(1, fault=fault)).verified == 0


@pytest.mark.parametrize(
    ("rows", "solved"),
    [
        ([a_told_row(1), a_told_row(2)], True),
        ([a_told_row(1), a_told_row(2, oracle=OracleFinding(correct=False))], False),
        ([a_told_row(1), a_told_row(2, fault=Fault(kind=FaultKind.LOST, detail="gone"), oracle=None)], False),
    ],
)
def test_a_task_is_solved_when_every_planned_cell_is_right(rows: list[Row], solved: bool) -> None:
    assert line_of(*rows).is_solved is solved


def test_an_arm_without_cells_of_a_task_has_no_line() -> None:
    assert [line.arm for line in task_lines(a_table((a_told_row(1),)))] == [ON]
    assert OFF not in {line.arm for line in task_lines(a_table((a_told_row(1),)))}
