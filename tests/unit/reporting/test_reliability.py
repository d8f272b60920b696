"""The report's part on the reliability gate."""

import re
from dataclasses import replace
from functools import cache

from farm.gates.protocol import Basis
from farm.gates.reliability import ReliabilityGate
from farm.gates.table import Row
from farm.model import Digest, Pin, parse_record
from farm.model.governed import AttemptRecord, CheckResult
from farm.planning.reliability import MODEL
from farm.reporting.render import render
from farm.reporting.report import Report
from farm.reporting.report_input import ReportInput
from tests.builders.live_histories import HISTORIES, a_plan, a_table
from tests.builders.reports import HOSTILE, a_report_input

GATE = ReliabilityGate()
PIN = Pin(name=GATE.name, version=GATE.version, options=GATE.policy({"replicates": 100}, ()))
CHEAT = f"create-basic-artifact.{MODEL}.1"
SILENT = f"create-basic-artifact.{MODEL}.2"


def shy(row: Row) -> Row:
    """Leave out the claim of a right run, whose last attempt failed a check with an evil name."""
    assert row.governed is not None
    check = CheckResult(id=HOSTILE, kind="file_exists", passed=False)
    attempt = AttemptRecord(number=1, passed=False, results=(check,), receipt="sha256:" + "a" * 64)
    governed = row.governed.model_copy(update={"claims_success": False, "attempts": (attempt,)})
    return row.model_copy(update={"governed": governed})


@cache
def the_input() -> ReportInput:
    plan = a_plan()
    table = a_table(HISTORIES["HARMFUL"], plan)
    rows = tuple(shy(row) if row.cell == SILENT else row for row in table.rows)
    table = table.model_copy(update={"rows": rows})
    source = a_report_input(plan, rows)
    basis = Basis(source.sweep, Digest.of(b"settlement"), Digest.of(b"cleanup"))
    return replace(source, verdicts=(basis.verdict(PIN, GATE.judge(table, PIN.options)),))


@cache
def page(name: str) -> str:
    return render(the_input())[name].decode()


def test_every_false_certification_and_rejection_is_in_all_forms() -> None:
    report = parse_record(Report, page("report.json").encode(), "report.json")
    assert report.reliability is not None
    assert [run.cell for run in report.reliability.false_certifications.runs] == [CHEAT]
    assert [run.cell for run in report.reliability.false_rejections.runs] == [SILENT]
    html = page("report.html")
    shown = html[html.index("Certified, and wrong") : html.index("Claimed, though exhausted")]
    assert re.findall(r'href="#c(\d+)">([^<]+)<', shown) == [
        (str(next(place for place, cell in enumerate(report.cells) if cell.cell == name)), name)
        for name in (CHEAT, SILENT)
    ]
    markdown = page("report.md")
    assert CHEAT in markdown[markdown.index("Certified, and wrong: 1") : markdown.index("Right, and not claimed: 1")]


def test_the_names_that_an_agent_gave_its_checks_stay_in_their_place() -> None:
    html, markdown = page("report.html"), page("report.md")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    (line,) = [line for line in markdown.splitlines() if line.startswith(f"| {SILENT} | certified ")]
    assert len(re.findall(r"(?<!\\)\|", line)) == 8
    assert "\x1b" not in html + markdown + page("report.json")


def test_the_ruling_the_numbers_and_the_sample_are_shown() -> None:
    markdown = page("report.md")
    assert "## Reliability: HARMFUL" in markdown
    assert "| false successes | 38 of 100 (" in markdown
    sample = markdown[markdown.index("### Right runs to look at") : markdown.index("### Checks that failed")]
    assert sample.count("\n- ") == 10
    kinds = markdown[markdown.index("### Checks that failed") : markdown.index("### What repairs did")]
    assert f"| {MODEL} | file_absent | " in kinds


def test_tables_of_markdown_have_as_many_cells_in_every_row() -> None:
    markdown = page("report.md")
    part = markdown[markdown.index("## Reliability") : markdown.index("## Arms")]
    tables = re.findall(r"(?:^\|.*\n)+", part, re.MULTILINE)
    widths = [{len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()} for table in tables]
    assert len(tables) == 6
    assert all(len(width) == 1 for width in widths)


def test_a_sweep_without_the_gate_shows_none_of_it() -> None:
    pages = render(a_report_input())
    assert parse_record(Report, pages["report.json"], "report.json").reliability is None
    assert b"Reliability" not in pages["report.html"] + pages["report.md"]
