import re
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

from farm.gates.table import Row
from farm.model import (
    ArmRole,
    Cell,
    CellId,
    Digest,
    DoorReport,
    LockPin,
    ModelUse,
    OracleFinding,
    Plan,
    Preregistration,
    SourceState,
    TokenUse,
    parse_record,
)
from farm.reporting.render import render
from farm.reporting.report import CellState, Report, Spend
from farm.reporting.report_input import ReportInput
from farm.reporting.summary import summary_lines
from tests.builders.gates import BASH_CALLS, ENDED_WELL, OFF, ON, At, a_digest, a_plan, a_row, a_session, an_arm
from tests.builders.reports import HOSTILE, a_report_input, an_uncontained_report_input, demo_plan


def the_report(**changes) -> Report:
    return parse_record(Report, render(a_report_input(**changes))["report.json"], "report.json")


def the_page(**changes) -> str:
    return render(a_report_input(**changes))["report.html"].decode()


def the_markdown(**changes) -> str:
    return render(a_report_input(**changes))["report.md"].decode()


class Tags(HTMLParser):
    """Collect tags, links, ids and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.handlers: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src", "xlink:href"}]
        self.ids += [value for name, value in attrs if name == "id"]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data) -> None:
        self.text += data


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def test_the_same_input_gives_the_same_bytes() -> None:
    assert render(a_report_input()) == render(a_report_input())


def test_the_page_stands_alone() -> None:
    tags = parsed(the_page())

    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(tags.tags)
    assert not [link for link in tags.links if re.match(r"[a-z]+:|//", link)]
    assert "@import" not in the_page()


def test_links_lead_from_the_report_to_blobs_and_records() -> None:
    tags = parsed(the_page())
    blobs = [link for link in tags.links if "blobs" in link]

    assert blobs
    assert all(re.fullmatch(r"\.\./\.\./\.\./blobs/sha256/([0-9a-f]{2})/\1[0-9a-f]{62}", link) for link in blobs)
    assert f"../attempts/fix-total.{ON}.3/1/outcome.json" in tags.links


def test_every_inner_link_has_its_target_and_no_id_stands_twice() -> None:
    tags = parsed(the_page())

    assert {link[1:] for link in tags.links if link.startswith("#")} <= set(tags.ids)
    assert len(tags.ids) == len(set(tags.ids))


def test_the_verdict_comes_first_and_each_check_says_what_was_asked() -> None:
    page = the_page()

    assert page.index("Failed") < page.index("<h2>Arms")
    assert "valid-measurements-on" in page
    assert "== 10" in page
    assert "does not hold" in page


def test_hostile_text_is_shown_and_does_nothing() -> None:
    page, markdown = the_page(), the_markdown()

    assert "<script" not in page
    assert "alert(1)" in parsed(page).text
    assert not parsed(page).handlers
    assert not [char for char in page + markdown if char in "\x1b\u202e\x00"]
    assert "<script" not in markdown


def test_no_text_breaks_a_markdown_table() -> None:
    lines = the_markdown().splitlines()
    columns: int | None = None
    for line in lines:
        if not line.startswith("|"):
            columns = None
            continue
        count = line.count("|")
        columns = columns or count
        assert count == columns, line


def test_savings_on_a_failed_task_are_flagged_on_both_pages() -> None:
    why = "of 10 cells 1 never judged, 1 without a measurement"
    assert f"saved, and failed: {why}" in the_markdown()
    assert f'<span>saved, and failed<span class="note">{why}</span></span>' in the_page()


def test_labels_make_a_routing_table_on_both_pages() -> None:
    plan = a_plan(trials=1)
    plan = plan.model_copy(
        update={"tasks": tuple(task.model_copy(update={"label": "cross-module"}) for task in plan.tasks)}
    )
    rows = [a_row(At(ON)), a_row(At(OFF), oracle=OracleFinding(correct=False))]
    sentence = f"{ON} beats {OFF} from cross-module on"
    assert sentence in the_markdown(plan=plan, rows=rows)
    assert sentence in parsed(the_page(plan=plan, rows=rows)).text
    assert "Routing" not in the_page()


def test_what_nobody_measured_reads_unknown() -> None:
    silent = a_session(usage=None, tool_calls=None)
    rows = [a_row(At(arm), None, sessions=(silent,), duration_s=None) for arm in (ON, OFF)]
    report = the_report(plan=a_plan(trials=1), rows=rows)
    arm = report.arms[0]

    assert (arm.cost.usd, arm.cost.unknown) == (None, 1)
    assert (arm.input_tokens.total, arm.tool_calls.total, arm.median_duration_s) == (None, None, None)
    assert report.metrics[0].mean is None
    text = parsed(the_page(plan=a_plan(trials=1), rows=rows)).text
    assert "$0" not in text
    assert text.count("unknown") > 8


def test_known_and_unknown_cost_stay_apart() -> None:
    arm = {line.name: line for line in the_report().arms}[OFF]

    assert (arm.cost.known, arm.cost.unknown) == (19, 1)
    assert "+ 1 unknown" in the_page()


def test_where_the_plan_has_prices_they_count_and_what_agents_say_stands_beside_them() -> None:
    use = TokenUse(whole=500, ordinary_input=400, cache_read=100, cache_write=0, output=7)
    door = DoorReport(
        provider="acme",
        origin="https://acme.example",
        models=(ModelUse(model="m", requests=1, tokens=use, cost_usd=Decimal("0.25")),),
        is_priced=True,
    )
    session = a_session(door=door, cost_usd=Decimal("0.75"))
    silent = a_session(door=door, cost_usd=None)
    rows = [
        a_row(At(OFF), None, sessions=(session,), cost_usd=session.metered_cost_usd),
        a_row(At(ON), None, sessions=(silent,), cost_usd=silent.metered_cost_usd),
    ]
    off, on = sorted(the_report(plan=a_plan(trials=1), rows=rows).arms, key=lambda arm: arm.name != OFF)

    assert (off.cost.usd, off.input_tokens.total, off.output_tokens.total) == (Decimal("0.25"), 500, 7)
    assert off.agents_cost == Spend(usd=Decimal("0.75"), known=1, unknown=0)
    assert (off.cost_difference_usd, on.cost_difference_usd) == (Decimal("0.50"), None)
    assert "agents say $0.75" in parsed(the_page(plan=a_plan(trials=1), rows=rows)).text
    line = rf"- {OFF}: \$0.7500, unknown in 0 cells; a difference of \$0.5000 where both are known"
    assert line in the_markdown(plan=a_plan(trials=1), rows=rows).splitlines()


def test_the_interval_is_over_judged_cells() -> None:
    arm = {line.name: line for line in the_report().arms}[ON]

    assert (arm.cells, arm.measured, arm.judged, arm.correct) == (20, 19, 18, 18)
    assert round(arm.correct_low, 3) == 0.824


def test_a_lost_attempt_is_kept_and_shown() -> None:
    cell = next(line for line in the_report().cells if line.cell == f"fix-total.{ON}.3")

    assert [(line.attempt, line.counted, line.fault) for line in cell.attempts] == [(1, False, "lost"), (2, True, None)]
    assert "the worker&#39;s lease expired" in the_page()


def test_the_counted_attempt_is_the_one_that_the_result_names() -> None:
    source = a_report_input()
    cell = CellId(f"fix-total.{ON}.3")

    report = parse_record(
        Report, render(replace(source, counted={**source.counted, cell: 1}))["report.json"], "report.json"
    )

    attempts = next(line for line in report.cells if line.cell == cell).attempts
    assert [(line.attempt, line.counted) for line in attempts] == [(1, True), (2, False)]


def test_an_attempt_that_was_claimed_and_never_heard_of_is_shown() -> None:
    source = a_report_input()
    cell = source.settlement.cells[0].cell

    report = parse_record(
        Report, render(replace(source, outcomes={**source.outcomes, cell: ()}))["report.json"], "report.json"
    )

    assert [(line.attempt, line.record) for line in report.cells[0].attempts] == [(1, None)]


def test_each_kind_of_cell_has_its_state() -> None:
    states = {line.cell: line.state for line in the_report().cells if line.state is not CellState.CORRECT}

    assert states == {
        f"list-exports.{OFF}.4": "wrong",
        f"fix-total.{OFF}.2": "excluded",
        f"fix-total.{ON}.7": "unjudged",
        f"fix-total.{ON}.9": "unsettled",
    }


def test_an_uncontained_sandbox_is_shown_loudly() -> None:
    page = render(an_uncontained_report_input())["report.html"].decode()

    assert page.index("Sandbox trusting: nothing contained the sessions") < page.index("Failed")


def test_a_sweep_without_a_gate_has_no_verdict() -> None:
    rows: list[Row] = [a_row(At(arm)) for arm in (ON, OFF)]
    page = the_page(plan=a_plan(trials=1), rows=rows)

    assert "No verdict" in page
    assert the_report(plan=a_plan(trials=1), rows=rows).decision is None


def test_a_large_sweep_is_cut_on_the_page_and_whole_in_json() -> None:
    plan = a_plan(trials=1100)
    rows = [a_row(At(cell.arm, cell.trial)) for cell in plan.cells]
    files = render(a_report_input(plan=plan, rows=rows))

    assert len(parse_record(Report, files["report.json"], "report.json").cells) == 2200
    page = files["report.html"].decode()
    assert page.count('<details class="cell">') == 2000
    assert "first 2000 of 2,200 cells" in page or "first 2000 of 2200 cells" in page


def test_an_absurd_number_of_a_guest_breaks_nothing() -> None:
    rows = [a_row(At(arm), 10**400) for arm in (ON, OFF)]

    report = the_report(plan=a_plan(trials=1), rows=rows)

    assert report.metrics[0].mean == 10**400


def test_the_report_names_its_plan_and_settlement() -> None:
    source = a_report_input()
    origin = the_report().provenance

    assert origin.plan == source.plan.digest
    assert origin.settlement == source.verdicts[0].settlement
    assert isinstance(origin.settlement, Digest)
    assert (ENDED_WELL.close, BASH_CALLS.name) == (origin.close, the_report().metrics[0].metric)
    assert HOSTILE not in the_page()


def with_a_control() -> ReportInput:
    """Give the demo sweep a third arm, which is the incumbent once more."""
    plan, again = demo_plan(), an_arm("again", ArmRole.CONTROL)
    cells = tuple(Cell(task=task.id, arm=again.name, trial=1) for task in plan.tasks)
    plan = Plan.model_validate(plan.model_dump() | {"arms": (*plan.arms, again), "cells": (*plan.cells, *cells)})
    rows = (a_row(At(cell.arm, cell.trial, cell.task), 6 if cell.arm == again.name else 2) for cell in plan.cells)
    return a_report_input(plan, rows)


def test_what_the_same_arm_twice_differs_by_is_told_as_the_noise_floor() -> None:
    files = render(with_a_control())

    report = parse_record(Report, files["report.json"], "report.json")
    assert [(line.metric, line.difference) for line in report.noise] == [("correct", 0), (BASH_CALLS.name, -4)]
    text = parsed(files["report.html"].decode()).text
    assert "Noise floor: the same arm twice" in text
    assert "| bash_tool_calls | again | overlay-off | -4 | 4 | 0.5 | 2 | 2 of 2 |" in files["report.md"].decode()
    told = "noise floor: again repeats overlay-off, and gains -4 in bash_tool_calls (mean of 2 tasks; at most 4 in one)"
    assert told in summary_lines(report)
    assert "Noise floor" not in the_page()


def test_a_lock_and_where_it_is_published_stand_in_every_form() -> None:
    lock = LockPin(id="first-protocol", digest=a_digest("lock"))
    known = Preregistration(lock=lock, source=SourceState(commit="c" * 40, is_clean=True))
    plan = demo_plan().with_preregistration(known)
    assert the_report(plan=plan).provenance.preregistration == known
    for page in (the_page(plan=plan), the_markdown(plan=plan)):
        assert f"first-protocol {a_digest('lock')}" in page
        assert f"commit {'c' * 40}, upstream none, clean" in page
    assert "<dt>Lock</dt>" not in the_page()
    assert "| lock |" not in the_markdown()
