"""The report's files."""

from collections.abc import Mapping

from farm.model import canonical_json
from farm.reporting.build import build
from farm.reporting.page import html_page, make_page, markdown_page
from farm.reporting.report_input import ReportInput


def render(source: ReportInput) -> Mapping[str, bytes]:
    """Give `report.json`, `report.md` and `report.html`; the same input gives the same bytes."""
    report = build(source)
    page = make_page(report, source.table)
    return {
        "report.html": html_page(report, page),
        "report.json": canonical_json(report),
        "report.md": markdown_page(report, page),
    }
