from farm.reporting.build import build
from farm.reporting.summary import summary_lines
from tests.builders.gates import OFF, ON, At, a_plan, a_row, rows_of
from tests.builders.reports import a_report_input, an_uncontained_report_input


def test_the_summary_says_the_verdict_what_fails_and_each_arm() -> None:
    lines = summary_lines(build(a_report_input()))

    assert lines[0] == (
        "overlay v4: FAIL. 1 of 2 cases fail: fix-total (valid-measurements-on 8 of 10, "
        "valid-measurements-off 9 of 10, correct-on 8 of 10)."
    )
    assert lines[3] == "  fix-total: correct-on is 8, asked == 10"
    assert lines[-1] == (
        "overlay-on   19 of 20 measured, 18 of 18 correct (82 % to 100 %), median 38.5 s, tool calls 77, "
        "cost $0.6556 (+ 1 unknown)"
    )


def test_a_line_holds_no_line_feed_and_no_escape() -> None:
    assert not [line for line in summary_lines(build(a_report_input())) if "\n" in line or "\x1b" in line]


def test_an_unsafe_sandbox_stands_first() -> None:
    assert summary_lines(build(an_uncontained_report_input()))[0].startswith("warning: Sandbox trusting")


def test_no_gate_is_said() -> None:
    rows = [a_row(At(arm)) for arm in (ON, OFF)]

    assert summary_lines(build(a_report_input(a_plan(trials=1), rows)))[0] == "no verdict: the sweep has no gate"


def test_an_unknown_cost_is_unknown() -> None:
    lines = summary_lines(build(a_report_input(a_plan(trials=1), rows_of([0], [0]))))

    assert lines[-1].endswith("cost unknown")
