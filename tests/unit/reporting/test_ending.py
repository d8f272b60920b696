from collections.abc import Iterable
from dataclasses import replace

import pytest

from farm.gates.table import Row
from farm.model import CloseReason, Decision, PilotSize, Preregistration, Unsettled, Verdict
from farm.reporting.build import build
from farm.reporting.ending import ending_warnings
from farm.reporting.report_input import ReportInput
from farm.reporting.summary import summary_lines
from tests.builders.gates import OFF, ON, At, a_plan, a_row
from tests.builders.reports import a_report_input


def an_end(reason: CloseReason, rows: Iterable[Row] = (), skipped: tuple[str, ...] = ()) -> ReportInput:
    plan = a_plan(trials=1).model_copy(update={"skipped": skipped})
    source = a_report_input(plan, rows)
    return replace(source, close=source.close.model_copy(update={"reason": reason}))


def decided(source: ReportInput, decision: Decision) -> Decision | None:
    verdict = Verdict.model_construct(**(dict(a_report_input().verdicts[0]) | {"decision": decision}))
    return build(replace(source, verdicts=(verdict,))).decision


@pytest.mark.parametrize(
    ("reason", "how"),
    [
        (CloseReason.CANCELLED, "was cancelled"),
        (CloseReason.BREAKER, "was aborted by the breaker"),
        (CloseReason.DEADLINE, "reached its deadline"),
    ],
)
def test_a_sweep_that_was_cut_short_says_first_that_it_authorises_nothing(reason: CloseReason, how: str) -> None:
    source = an_end(reason, [a_row(At(ON)), a_row(At(OFF), unsettled=Unsettled.NEVER_STARTED)])
    said = summary_lines(build(source))[0]
    assert said == f"warning: The sweep {how}, 1 of 2 cells have no result: it authorises nothing."


@pytest.mark.parametrize("reason", [reason for reason in CloseReason if reason is not CloseReason.COMPLETE])
def test_a_sweep_that_was_cut_short_passes_nothing(reason: CloseReason) -> None:
    assert decided(an_end(reason), Decision.PASS) is Decision.INCONCLUSIVE
    assert decided(an_end(reason), Decision.FAIL) is Decision.FAIL


def test_a_complete_sweep_has_no_such_warning_and_its_pass_stands() -> None:
    source = an_end(CloseReason.COMPLETE)
    assert ending_warnings(source) == []
    assert decided(source, Decision.PASS) is Decision.PASS


def test_skipped_expensive_tasks_are_named() -> None:
    source = an_end(CloseReason.COMPLETE, skipped=("retry", "port"))
    assert ending_warnings(source) == ["Skipped, since expensive and not asked for: retry, port."]
    assert build(source).skipped == ("retry", "port")


def test_a_pilot_says_what_it_can_and_cannot_show() -> None:
    size = PilotSize(tasks=1, of_tasks=2, trials=1, of_trials=5)
    source = a_report_input(a_plan(trials=1).with_preregistration(Preregistration(pilot=size)), ())
    (said,) = ending_warnings(source)
    assert said == "A pilot, 1 of 2 tasks, 1 trials in place of 5: no gate passes in it; one may fail, or find harm."
