"""The report's files."""

from collections.abc import Mapping

from farm.model import canonical_json
from farm.model.keys import REPORT_DATA, REPORT_PAGE, REPORT_TEXT
from farm.reporting.build import build
from farm.reporting.page import html_page, make_page, markdown_page
from farm.reporting.report_input import ReportInput


def render(source: ReportInput) -> Mapping[str, bytes]:
    """Give `report.json`, `report.md` and `report.html`; the same input gives the same bytes."""
    report = build(source)
    page = make_page(report, source.table)
    return {
        REPORT_PAGE: html_page(report, page),
        REPORT_DATA: canonical_json(report),
        REPORT_TEXT: markdown_page(report, page),
    }
