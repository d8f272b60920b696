from dataclasses import replace
from decimal import Decimal

from farm.model import NO_TOKENS, Churn, DoorReport, Fault, FaultKind, ModelUse, SweepBudget
from farm.reporting.build import build
from farm.reporting.summary import summary_lines
from tests.builders.gates import OFF, ON, At, a_plan, a_row, a_session, rows_of
from tests.builders.reports import a_report_input, an_uncontained_report_input


def test_the_summary_says_the_verdict_what_fails_and_each_arm() -> None:
    lines = summary_lines(build(a_report_input()))

    assert lines[0] == (
        "warning: 1 of 40 cells have no measurement because their provider did not answer: what a gate misses in them "
        "says nothing of the arms."
    )
    assert lines[1] == (
        "overlay v4: FAIL. 1 of 2 cases fail: fix-total (valid-measurements-on 8 of 10, "
        "valid-measurements-off 9 of 10, correct-on 8 of 10)."
    )
    assert lines[4] == "  fix-total: correct-on is 8, asked == 10"
    assert lines[-1] == "overlay-on: what it saved on fix-total is no gain: not every cell of it is right"
    assert lines[-2] == (
        "overlay-on   19 of 20 measured, 18 of 18 correct (82 % to 100 %), median 38.5 s, tool calls 77, "
        "cost $0.6938 (+ 1 unknown)"
    )


def test_a_line_holds_no_line_feed_and_no_escape() -> None:
    assert not [line for line in summary_lines(build(a_report_input())) if "\n" in line or "\x1b" in line]


def test_an_unsafe_sandbox_stands_first() -> None:
    assert summary_lines(build(an_uncontained_report_input()))[0].startswith("warning: Sandbox trusting")


def test_what_of_the_budget_nobody_could_measure_is_said() -> None:
    plan = a_plan(trials=1)
    paid = tuple(arm.model_copy(update={"provider": "acme"}) for arm in plan.arms)
    plan = plan.model_copy(update={"arms": paid, "budget": SweepBudget(cost_usd=Decimal(5))})
    rows = [a_row(At(arm), sessions=(a_session(cost_usd=cost),)) for arm, cost in ((ON, Decimal(1)), (OFF, None))]
    assert summary_lines(build(a_report_input(plan, rows)))[0] == (
        "warning: Of the budget of $5.00, $1.00 are known to be used, and 1 attempts used what nobody could measure."
    )


def test_an_unusable_arm_is_told_without_a_gate() -> None:
    lost = Fault(kind=FaultKind.LOST, detail="gone")
    rows = [a_row(At(ON), fault=lost, oracle=None), a_row(At(OFF))]
    assert summary_lines(build(a_report_input(a_plan(trials=1), rows)))[0] == (
        "warning: arm overlay-on is unusable: 0 of 1 fresh cells admissible (infra-error 1); the cause is undetermined"
    )


def test_arms_that_left_the_same_change_are_warned_of_and_at_most_five_times() -> None:
    churn = Churn(files=1, added_lines=60, removed_lines=0, binary_files=0)
    rows = [a_row(At(arm, trial), churn=churn) for trial in range(1, 8) for arm in (ON, OFF)]
    report = build(a_report_input(a_plan(trials=7), rows))
    alarms = [line for line in summary_lines(report) if line.startswith("warning: Contamination?")]
    assert alarms[0].startswith("warning: Contamination? answer.overlay-on.1, answer.overlay-off.1 left equal counts")
    assert (len(alarms), len(report.contaminations)) == (5, 7)
    assert "warning: And 2 more groups of cells left the same change; report.json names them." in summary_lines(report)


def test_no_gate_is_said() -> None:
    rows = [a_row(At(arm)) for arm in (ON, OFF)]

    assert summary_lines(build(a_report_input(a_plan(trials=1), rows)))[0] == "no verdict: the sweep has no gate"


def test_an_unknown_cost_is_unknown() -> None:
    lines = summary_lines(build(a_report_input(a_plan(trials=1), rows_of([0], [0]))))

    assert lines[-1].endswith("cost unknown")


def test_what_attempts_that_do_not_count_cost_is_in_the_sum_and_is_named() -> None:
    door = DoorReport(
        provider="acme",
        origin="https://acme.example",
        models=(ModelUse(model="m", requests=1, tokens=NO_TOKENS, cost_usd=Decimal("0.42")),),
        is_priced=True,
    )
    session = a_session(door=door)
    rows = [a_row(At(arm), None, sessions=(session,), cost_usd=Decimal("0.42"), attempts=2) for arm in (ON, OFF)]
    source = a_report_input(a_plan(trials=1), rows)
    limited = Fault(kind=FaultKind.RATE_LIMIT, detail="429")
    for cell, (first, second) in source.outcomes.items():
        failed = first.model_copy(update={"fault": limited, "doors": (door,)})
        source = replace(source, outcomes={**source.outcomes, cell: (failed, second)})
    report = build(source)

    assert summary_lines(report)[-1].endswith("cost $0.8400 ($0.4200 of it in attempts that do not count)")
    assert [cell.cost_usd for cell in report.cells] == [Decimal("0.84")] * 2
    assert [attempt.cost_usd for attempt in report.cells[0].attempts] == [Decimal("0.42")] * 2


def test_an_attempt_of_unknown_cost_makes_its_cell_s_unknown_and_loses_none_of_what_is_known() -> None:
    rows = [a_row(At(arm), None, attempts=2, sessions=(a_session(cost_usd=Decimal("0.5")),)) for arm in (ON, OFF)]

    assert summary_lines(build(a_report_input(a_plan(trials=1), rows)))[-1].endswith("cost $0.5000 (+ 1 unknown)")
